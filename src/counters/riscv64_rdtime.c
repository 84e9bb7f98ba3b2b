/* SPDX-License-Identifier: 0BSD */
/* riscv64-rdtime, riscv32-rdtime: the time CSR, by RDTIME (The RISC-V
 * Instruction Set Manual, Volume I, "Zicntr"). A fixed-rate clock outside the
 * core, of 1 to 100 MHz on most machines, and on many read by a trap into the
 * firmware, which takes a microsecond. The device tree says its rate; where
 * ACPI stands in for that, it is measured. */
#include <config.h>
#if HAVE_COUNTER_RISCV64_RDTIME
#include "../rate/clock.h"
#include "../slot.h"
#include "../rate/stated_rate.h"
#include "riscv.h"

static long long riscv64_rdtime_read(void)
{
	uint64_t ticks;

	CPUC_RISCV_CSR(1, ticks);
	return (long long)ticks;
}

static uint64_t riscv64_rdtime_stated(void)
{
	return cpuc_stated_timebase("");
}

static struct cpuc_clock riscv64_rdtime_clock = {
	.tick = riscv64_rdtime_read,
	.stated = riscv64_rdtime_stated,
};

const struct cpuc_counter cpuc_counter_riscv64_rdtime = {
	.name = CPUC_RISCV_NAME("rdtime"),
	.kind = CPUC_REFERENCE,
	.clock = &riscv64_rdtime_clock,
	.read = riscv64_rdtime_read,
};

#endif
