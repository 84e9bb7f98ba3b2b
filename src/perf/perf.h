/* SPDX-License-Identifier: 0BSD */
/* What the engine asks of perf events. */
#ifndef CPUC_PERF_H
#define CPUC_PERF_H

#include "../slot.h"

#define CPUC_NO_PMU "no PMU is visible here (virtual machine?)"
#define CPUC_NO_INSTRUCTIONS \
	"no PMU that counts instructions is visible here (virtual machine?)"
#define CPUC_NO_PMU_HINT "the host would have to offer one"

/* Opens a counter's events in the calling thread, and finds out how others are
 * to open theirs: 0, or -errno with the reason. Under the lock, as the next
 * two. In all functions a set that is NULL has no events. */
int cpuc_perf_try(struct cpuc_slot *slot, struct cpuc_event_set *set);

/* Closes the calling thread's events if they are this set's. Other threads keep
 * theirs until they select or exit. If this faults, it does so once. */
void cpuc_perf_close(struct cpuc_event_set *set);

/* Whether a counter may be read outside perf: 0, or -ENOTSUP with the reason.
 * Where perf has it, its count depends on other programs' events. */
int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_event_set *set);

/* Whether a thread of this process has opened these events: so others try. */
bool cpuc_perf_opened(const struct cpuc_event_set *set);

/* Whether these events were last seen to count known instructions rightly, as
 * the selection has said: if not, no pair reads them. It has tried them on the
 * type of core that the calling thread was on at its latest slow count. */
void cpuc_perf_proved(struct cpuc_event_set *set, bool right);
bool cpuc_perf_right(const struct cpuc_event_set *set);

/* Whether the calling thread's latest slow count was on a type of core where
 * they have not. */
bool cpuc_perf_unproven(const struct cpuc_event_set *set);

/* Cycles and instructions of one instant, from events that have been opened. */
void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2]);

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
/* No counter of this host has events. */
#define cpuc_perf_try(slot, set) ((void)(set), 0)
#define cpuc_perf_close(set) ((void)(set))
#define cpuc_perf_opened(set) ((void)(set), true)
#define cpuc_perf_proved(set, right) ((void)(set), (void)(right))
#define cpuc_perf_right(set) ((void)(set), true)
#define cpuc_perf_unproven(set) ((void)(set), false)
#define cpuc_perf_absent(slot, set) ((void)(slot), 0)
#define cpuc_perf_pair(cycles, instructions, pair) \
	((void)(cycles), (void)(instructions), (void)(pair))
#endif

#endif
