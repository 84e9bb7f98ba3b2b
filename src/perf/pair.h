/* SPDX-License-Identifier: 0BSD */
/* Cycles and instructions of one instant. */
#ifndef CPUC_PERF_PAIR_H
#define CPUC_PERF_PAIR_H

#include "../slot.h"

/* Whether a thread of this process has opened these events, so that every
 * thread can. */
bool cpuc_perf_opened(const struct cpuc_event_set *set);

/* Reads both, which have been opened. */
void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2]);

#endif
