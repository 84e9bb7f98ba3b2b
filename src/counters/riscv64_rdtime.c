/* SPDX-License-Identifier: 0BSD */
/* riscv64-rdtime, riscv32-rdtime: the time CSR, by RDTIME (The RISC-V
 * Instruction Set Manual, Volume I, "Zicntr"). A fixed-rate clock outside the
 * core, of 1 to 100 MHz on most machines, and on many read by a trap into the
 * firmware, which takes a microsecond. The device tree says its rate; where
 * ACPI stands in for that, it is measured. */
#include <config.h>
#if HAVE_COUNTER_RISCV64_RDTIME
#include "../clock.h"
#include "../slot.h"
#include "../system/stated_rate.h"

#if __riscv_xlen == 32
#define NAME "riscv32-rdtime"

static long long riscv64_rdtime_read(void)
{
	uint32_t high, low, again;

	/* Until the high half is the same before and after. */
	do
		__asm__ volatile("rdtimeh %0\n\trdtime %1\n\trdtimeh %2"
				 : "=&r"(high), "=&r"(low), "=&r"(again));
	while (high != again);
	return (long long)((uint64_t)high << 32 | low);
}
#else
#define NAME "riscv64-rdtime"

static long long riscv64_rdtime_read(void)
{
	uint64_t ticks;

	__asm__ volatile("rdtime %0" : "=r"(ticks));
	return (long long)ticks;
}
#endif

static uint64_t riscv64_rdtime_stated(void)
{
	return cpuc_stated_timebase("");
}

static struct cpuc_clock riscv64_rdtime_clock = {
	.tick = riscv64_rdtime_read,
	.stated = riscv64_rdtime_stated,
};

const struct cpuc_counter cpuc_counter_riscv64_rdtime = {
	.name = NAME,
	.kind = CPUC_REFERENCE,
	.bits = 64,
	.clock = &riscv64_rdtime_clock,
	.read = riscv64_rdtime_read,
};

#endif
