/* SPDX-License-Identifier: 0BSD */
/* What the engine asks of perf events. */
#ifndef CPUC_PERF_H
#define CPUC_PERF_H

#include "../slot.h"

#define CPUC_NO_PMU "no PMU is visible here (virtual machine?)"
#define CPUC_NO_INSTRUCTIONS \
	"no PMU that counts instructions is visible here (virtual machine?)"
#define CPUC_NO_PMU_HINT "the host would have to offer one"

/* Opens the events of a counter for the calling thread, and finds how other
 * threads open theirs: 0, or -errno with the reason. NULL: nothing to open.
 * Under the lock, as the next two. */
int cpuc_perf_try(struct cpuc_slot *slot, struct cpuc_event_set *set);

/* Closes the calling thread's events. Those of other threads, which may be
 * reading them, are closed when their threads select or end. */
void cpuc_perf_close(struct cpuc_event_set *set);

/* Whether a counter may be read outside perf: 0, or -ENOTSUP with the reason if
 * perf events can be read, as its count would then depend on other programs'
 * events. */
int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_event_set *set);

/* Whether a thread of this process has opened these events, so that every
 * thread can. */
bool cpuc_perf_opened(const struct cpuc_event_set *set);

/* Cycles and instructions of one instant, by events that have been opened. */
void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2]);

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
/* No counter has any. */
#define cpuc_perf_try(slot, set) ((void)(set), 0)
#define cpuc_perf_close(set) ((void)(set))
#define cpuc_perf_opened(set) ((void)(set), false)
#define cpuc_perf_absent(slot, set) ((void)(slot), 0)
#define cpuc_perf_pair(cycles, instructions, pair) \
	((void)(cycles), (void)(instructions), (void)(pair))
#endif

#endif
