/* SPDX-License-Identifier: 0BSD */
/* arm64-perfpmc: PMCCNTR_EL0, or the counter that the kernel has put this
 * thread's cycles event on instead. */
#include <config.h>
#include "arm64.h"

/* Bit 0: 64 bits wide; bit 1: users may read it. Instructions have 32 bits, as
 * wider ones of this event are refused before Armv8.5; the kernel adds up their
 * overflows. */
CPUC_PERF_COUNTERS(arm64_perfpmc, "arm64-perfpmc", cpuc_arm64_cycle_events,
		   cpuc_arm64_register, 3, 2,
		   .access = {"/proc/sys/kernel/perf_user_access"})
