/* SPDX-License-Identifier: 0BSD */
/* amd64-perfpmc, x86-perfpmc: RDPMC of the counter that the kernel has put
 * this thread's cycles event on: core cycles, halted time left out. */
#include <config.h>
#if HAVE_COUNTER_AMD64_PERFPMC
#include "x86.h"

struct cpuc_event_set cpuc_x86_cycle_events = {
	.reg = cpuc_x86_register,
	.access = CPUC_X86_ACCESS,
};

long long cpuc_x86_cycles(void)
{
	return cpuc_perf_count(&cpuc_x86_cycle_events, cpuc_x86_register);
}

const struct cpuc_counter cpuc_counter_amd64_perfpmc = {
	.name = CPUC_X86_NAME("perfpmc"),
	.kind = CPUC_CORE,
	.events = &cpuc_x86_cycle_events,
	.read = cpuc_x86_cycles,
};

static struct cpuc_event_set amd64_perfpmc_instruction_events = {
	.counts = PERF_COUNT_HW_INSTRUCTIONS,
	.reg = cpuc_x86_register,
	.access = CPUC_X86_ACCESS,
};

static long long amd64_perfpmc_instructions_read(void)
{
	return cpuc_perf_count_instructions(&amd64_perfpmc_instruction_events,
					    cpuc_x86_register);
}

const struct cpuc_counter cpuc_instructions_amd64_perfpmc = {
	.name = CPUC_X86_NAME("perfpmc"),
	.kind = CPUC_CORE,
	.events = &amd64_perfpmc_instruction_events,
	.read = amd64_perfpmc_instructions_read,
};

#endif
