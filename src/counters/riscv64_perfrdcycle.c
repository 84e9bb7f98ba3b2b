/* SPDX-License-Identifier: 0BSD */
/* riscv64-perfrdcycle, riscv32-perfrdcycle: the counter CSR that the kernel has
 * put this thread's cycles event on. That is `cycle` on a plain CPU, and one of
 * the others where counters can overflow into interrupts (Sscofpmf). */
#include <config.h>
#include "riscv.h"

struct cpuc_event_set cpuc_riscv_cycle_events = {
	.reg = cpuc_riscv_register,
	.defer_unmap = true,
	.access = {"/proc/sys/kernel/perf_user_access"},
};

static long long riscv64_perfrdcycle_read(void)
{
	return cpuc_perf_count(&cpuc_riscv_cycle_events, CPUC_OF_CYCLES,
			       cpuc_riscv_register);
}

const struct cpuc_counter cpuc_counter_riscv64_perfrdcycle = {
	.name = CPUC_RISCV_NAME("perfrdcycle"),
	.kind = CPUC_CORE,
	.events = &cpuc_riscv_cycle_events,
	.read = riscv64_perfrdcycle_read,
};

CPUC_PERF_INSTRUCTIONS(riscv64_perfrdcycle, CPUC_RISCV_NAME("perfrdcycle"),
		       cpuc_riscv_register, .defer_unmap = true,
		       .access = {"/proc/sys/kernel/perf_user_access"})
