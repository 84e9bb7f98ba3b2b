/* SPDX-License-Identifier: 0BSD */
/* arm64-perfpmc: PMCCNTR_EL0, or the counter that the kernel has put this
 * thread's cycles event on instead. */
#include <config.h>
#include "arm64.h"

/* config1: bit 0 asks for 64 bits, bit 1 lets users read the register.
 * Instructions have 32 bits, because before Armv8.5 the kernel refuses wider
 * ones of this event; it adds up the overflows. */
CPUC_PERF_COUNTERS(arm64_perfpmc, "arm64-perfpmc", CPUC_CORE,
		   cpuc_arm64_cycle_events, cpuc_arm64_register, 3, 2,
		   .access = {"/proc/sys/kernel/perf_user_access"})
