/* SPDX-License-Identifier: 0BSD */
/* arm64-pmc: PMCCNTR_EL0 outside perf, where another system or a kernel module
 * lets users read it. It counts the core, not the thread; cores differ. */
#include <config.h>
#include "arm64.h"

static long long arm64_pmc_read(void)
{
	return (long long)cpuc_arm64_cycles();
}

/* After anybody's perf event, a CPU lets everybody read it for a while. */
static int arm64_pmc_open(struct cpuc_slot *slot)
{
	return cpuc_perf_absent(slot, &cpuc_arm64_cycle_events);
}

CPUC_DEFINE_COUNTER(arm64_pmc, "arm64-pmc", .kind = CPUC_CORE,
		    .open = arm64_pmc_open)
