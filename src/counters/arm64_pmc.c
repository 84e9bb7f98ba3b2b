/* SPDX-License-Identifier: 0BSD */
/* arm64-pmc: PMCCNTR_EL0 outside perf, where another operating system or a
 * kernel module lets users read it. It belongs to the core, not to a thread: it
 * counts other threads, too, and differs between cores. */
#include <config.h>
#include "arm64.h"

static long long arm64_pmc_read(void)
{
	return (long long)cpuc_arm64_cycles();
}

/* That a read works proves nothing: for a while after anybody's perf event, a
 * CPU lets everybody read the register. */
static int arm64_pmc_open(struct cpuc_slot *slot)
{
	return cpuc_perf_absent(slot, &cpuc_arm64_cycle_events);
}

CPUC_DEFINE_COUNTER(arm64_pmc, "arm64-pmc", .kind = CPUC_CORE,
		    .open = arm64_pmc_open)
