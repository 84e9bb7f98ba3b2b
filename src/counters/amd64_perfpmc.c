/* SPDX-License-Identifier: 0BSD */
/* amd64-perfpmc, x86-perfpmc: RDPMC of the counter that the kernel has put
 * this thread's cycles event on: core cycles, halted time left out. */
#include <config.h>
#include "x86.h"

struct cpuc_event_set cpuc_x86_cycle_events = {
	.reg = cpuc_x86_register,
	.keep_page = true,
	.access = CPUC_X86_ACCESS,
};

long long cpuc_x86_cycles(void)
{
	return cpuc_perf_count(&cpuc_x86_cycle_events, CPUC_OF_CYCLES,
			       cpuc_x86_register);
}

const struct cpuc_counter cpuc_counter_amd64_perfpmc = {
	.name = CPUC_X86_NAME("perfpmc"),
	.kind = CPUC_CORE,
	.events = &cpuc_x86_cycle_events,
	.read = cpuc_x86_cycles,
};

CPUC_PERF_INSTRUCTIONS(amd64_perfpmc, CPUC_X86_NAME("perfpmc"),
		       cpuc_x86_register, .keep_page = true,
		       .access = CPUC_X86_ACCESS)
