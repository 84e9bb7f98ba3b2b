/* SPDX-License-Identifier: 0BSD */
/* amd64-perfpmcff: as amd64-perfpmc, while the kernel has put this thread's
 * cycles event on Intel's fixed-function counter for them. */
#include <config.h>
#include "x86.h"

static long long amd64_perfpmcff_read(void)
{
	return cpuc_perf_count(&cpuc_x86_cycle_events, PERF_COUNT_HW_CPU_CYCLES,
			       cpuc_x86_register);
}

static int amd64_perfpmcff_open(struct cpuc_slot *slot)
{
	if (cpuc_perf_index(&cpuc_x86_cycle_events) ==
	    CPUC_X86_FIXED_CYCLES + 1)
		return 0;
	return cpuc_reason(slot, "the kernel uses another counter than the "
				 "fixed-function one");
}

CPUC_DEFINE_COUNTER(amd64_perfpmcff, "amd64-perfpmcff", .kind = CPUC_CORE,
		    .events = &cpuc_x86_cycle_events,
		    .open = amd64_perfpmcff_open)
