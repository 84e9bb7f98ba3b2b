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

/* False: the thread has been switched, or has not counted yet, and the read
 * took longer than the next one will. All sets with registers read one PMU, so
 * what the inline reader finds is this set's. */
static bool pair_read(struct cpuc_event_set *set, long long *count)
{
	uint64_t sum;

	if (set->reg != NULL && cpuc_perf_if_quick(set, &sum)) {
		*count = (long long)sum;
		return true;
	}
	*count = cpuc_perf_slow(set);
	return set->reg == NULL;
}

void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2])
{
	long long after;
	bool quick;
	int i;

	/* The third try: a switch may come in front of the last read of the
	 * first, and the instructions' pages are read in the second. */
	for (i = 0; i < TRIES; i++) {
		quick = pair_read(cycles, &pair[0]);
		quick &= pair_read(instructions, &pair[1]);
		quick &= pair_read(cycles, &after);
		if (after - pair[0] < NEAR && (quick || i > 1))
			break;
	}
}

#endif
