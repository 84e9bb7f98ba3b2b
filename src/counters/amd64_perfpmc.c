/* SPDX-License-Identifier: 0BSD */
/* amd64-perfpmc, x86-perfpmc: RDPMC of the counter that the kernel has put
 * this thread's cycles event on: unhalted core cycles. */
#include <config.h>
#include "x86.h"

/* One value of rdpmc serves all types of cores. */
CPUC_PERF_COUNTERS(amd64_perfpmc, CPUC_X86_NAME("perfpmc"), CPUC_CORE,
		   cpuc_x86_cycle_events, cpuc_x86_register, 0, 0,
		   .keep_page = true,
		   .access = {CPUC_PMUS "cpu/rdpmc",
			      CPUC_PMUS "cpu_core/rdpmc"})
