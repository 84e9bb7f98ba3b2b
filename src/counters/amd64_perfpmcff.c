/* SPDX-License-Identifier: 0BSD */
/* amd64-perfpmcff: as amd64-perfpmc, and fastest while this thread's cycles
 * event is on Intel's fixed-function counter for them. */
#include <config.h>
#if HAVE_COUNTER_AMD64_PERFPMCFF
#include "x86.h"

static long long amd64_perfpmcff_read(void)
{
	return cpuc_perf_count(&cpuc_x86_cycle_events, cpuc_x86_register,
			       CPUC_X86_FIXED_CYCLES + 1);
}

const struct cpuc_counter cpuc_counter_amd64_perfpmcff = {
	.name = "amd64-perfpmcff",
	.kind = CPUC_CORE,
	.events = &cpuc_x86_cycle_events,
	.read = amd64_perfpmcff_read,
	.open = cpuc_x86_fixed_cycles,
};

#endif
