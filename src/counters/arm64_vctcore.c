/* SPDX-License-Identifier: 0BSD */
/* arm64-vctcore: CNTVCT_EL0, the virtual count, converted to cycles of the core
 * by a ratio that is measured. The clock's rate is in CNTFRQ_EL0 (Arm
 * Architecture Reference Manual for A-profile, "The Generic Timer"). */
#include <config.h>
#if HAVE_COUNTER_ARM64_VCTCORE
#include "../calibrate.h"
#include "../slot.h"
#include "chains_arm64.h"

/* isb: or else the count may be read before earlier instructions are done. */
static long long tick(void)
{
	long long t;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(t)::"memory");
	return t;
}

static long long count(void)
{
	uint64_t t;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(t));
	return (long long)cpuc_calibrated(t);
}

static int setup(struct cpuc_slot *slot)
{
	uint64_t frequency;

	/* The upper half is reserved. */
	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	if (slot->rate == 0)
		slot->rate = (uint32_t)frequency;
	return 0;
}

static const struct cpuc_chain_ops chains = {
	.tick = tick,
	.chain = arm64_chain,
	.nchains = sizeof arm64_chain / sizeof *arm64_chain,
	.steady = &arm64_steady,
};

const struct cpuc_counter cpuc_counter_arm64_vctcore = {
	.name = "arm64-vctcore",
	.kind = CPUC_CALIBRATED,
	.unit = CPUC_TICK,
	.bits = 64,
	.read = count,
	.open = setup,
	.chains = &chains,
};

#endif
