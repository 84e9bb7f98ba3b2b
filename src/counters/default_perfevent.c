/* SPDX-License-Identifier: 0BSD */
/* default-perfevent: read(2) of this thread's cycles event: as true as a
 * register, at the price of two system calls.
 *
 * The event is pinned, so others wait for it. If other pinned events leave it
 * no register, it is opened unpinned and takes turns: the count stands still in
 * between, and is not scaled up by the time on a register. That would be a
 * guess, and could make the count go back. */
#include <config.h>
#include "../perf/read.h"
#include "../slot.h"

CPUC_PERF_COUNTERS(default_perfevent, "default-perfevent", CPUC_CORE_KERNEL,
		   cpuc_perfevent_cycle_events, NULL, 0, 0, .access = {NULL})
