/* SPDX-License-Identifier: 0BSD */
/* arm64-pmc: PMCCNTR_EL0 outside perf: for systems with another operating
 * system's, or a kernel module's, leave to read it. It belongs to the core, not
 * to a thread: it goes on for others, and differs between cores. */
#include <config.h>
#if HAVE_COUNTER_ARM64_PMC
#include "../slot.h"
#if HAVE_COUNTER_ARM64_PERFPMC
#include "arm64_perf.h"
#endif

static long long arm64_pmc_read(void)
{
	uint64_t value;

	__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
	return (long long)value;
}

#if HAVE_COUNTER_ARM64_PERFPMC
/* A CPU on which somebody's event was, lets everybody read the counter for a
 * while: that the read works proves nothing. */
static int arm64_pmc_open(struct cpuc_slot *slot)
{
	return cpuc_perf_absent(slot, &cpuc_arm64_pmu);
}
#endif

const struct cpuc_counter cpuc_counter_arm64_pmc = {
	.name = "arm64-pmc",
	.kind = CPUC_CORE,
	.unit = CPUC_CYCLE,
	.bits = 64,
	.read = arm64_pmc_read,
#if HAVE_COUNTER_ARM64_PERFPMC
	.open = arm64_pmc_open,
#endif
};

#endif
