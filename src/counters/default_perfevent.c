/* SPDX-License-Identifier: 0BSD */
/* default-perfevent: read(2) of this thread's cycles event: as true as a
 * register, at the price of two system calls. If pinned events of others leave
 * it no register, it takes turns: the count stands still in between, and is not
 * scaled up by the time on a register, a guess that could go back. */
#include <config.h>
#include "../perf/read.h"
#include "../slot.h"

CPUC_PERF_COUNTERS(default_perfevent, "default-perfevent", CPUC_CORE_KERNEL,
		   cpuc_perfevent_cycle_events, NULL, 0, 0, .access = {NULL})
