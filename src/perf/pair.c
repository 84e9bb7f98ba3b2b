/* SPDX-License-Identifier: 0BSD */
/* Cycles and instructions of one instant.
 *
 * The two events are not a group of the kernel's: RISC-V has one register for
 * cycles, which the thread's event is on already, and a group would need a
 * second one. Nor need they be. Both are pinned, so that each counts whenever
 * the thread runs, and neither counts for another thread: a switch between the
 * two reads adds to neither. Only a signal handler does, and the cycles show
 * that. */
#include <config.h>
#include "pair.h"
#if !HAVE_COUNTER_DEFAULT_PERFEVENT

bool cpuc_perf_opened(const struct cpuc_event_set *set)
{
	(void)set;
	return false;
}

void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2])
{
	(void)cycles;
	(void)instructions;
	pair[0] = pair[1] = -1;
}

#else
#include "read.h"

/* Cycles: less than a handler and its delivery by the kernel take, and more
 * than the reads do. Where these are system calls they may take more;
 * then the last of so many pairs is as good as any. */
#define NEAR 1000
#define TRIES 4

bool cpuc_perf_opened(const struct cpuc_event_set *set)
{
	return __atomic_load_n(&set->opened, __ATOMIC_ACQUIRE) != 0;
}

/* All sets with registers read one PMU, so the quick page is this one's. */
static long long pair_read(struct cpuc_event_set *set)
{
	if (set->reg == NULL)
		return cpuc_perf_slow(set);
	return cpuc_perf_count_of(*cpuc_perf_thread_own(set), set, set->reg, 0);
}

void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2])
{
	int i;

	for (i = 0; i < TRIES; i++) {
		pair[0] = pair_read(cycles);
		pair[1] = pair_read(instructions);
		if (pair_read(cycles) - pair[0] < NEAR)
			break;
	}
}

#endif
