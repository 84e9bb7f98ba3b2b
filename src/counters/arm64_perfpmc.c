/* SPDX-License-Identifier: 0BSD */
/* arm64-perfpmc: PMCCNTR_EL0, or the counter that the kernel has put this
 * thread's cycles event on instead. */
#include <config.h>
#include "arm64.h"

struct cpuc_event_set cpuc_arm64_cycle_events = {
	/* Bit 0: 64 bits wide; bit 1: users may read it. */
	.config1 = 3,
	.reg = cpuc_arm64_register,
	.access = {"/proc/sys/kernel/perf_user_access"},
};

static long long arm64_perfpmc_read(void)
{
	return cpuc_perf_count(&cpuc_arm64_cycle_events, CPUC_OF_CYCLES,
			       cpuc_arm64_register);
}

const struct cpuc_counter cpuc_counter_arm64_perfpmc = {
	.name = "arm64-perfpmc",
	.kind = CPUC_CORE,
	.events = &cpuc_arm64_cycle_events,
	.read = arm64_perfpmc_read,
};

/* Bit 1: users may read it. 32 bits wide, as wider ones of this event are
 * refused before Armv8.5. The kernel adds up their overflows. */
CPUC_PERF_INSTRUCTIONS(arm64_perfpmc, "arm64-perfpmc", cpuc_arm64_register,
		       .config1 = 2,
		       .access = {"/proc/sys/kernel/perf_user_access"})
