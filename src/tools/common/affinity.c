/* SPDX-License-Identifier: 0BSD */
/* Which CPUs a thread may run on, and running on one of them. */
#include <config.h>
#include <errno.h>
#include "affinity.h"

#ifdef HAVE_SCHED_SETAFFINITY

#define CPUS (AFFINITY_SETS * CPU_SETSIZE)

int affinity_get(struct affinity *a)
{
	CPU_ZERO_S(sizeof a->set, a->set);
	return sched_getaffinity(0, sizeof a->set, a->set) == 0 ? 0 : errno;
}

int affinity_next(const struct affinity *a, int cpu)
{
	while (++cpu < CPUS)
		if (CPU_ISSET_S((size_t)cpu, sizeof a->set, a->set))
			return cpu;
	return -1;
}

int affinity_pin(int cpu)
{
	cpu_set_t set[AFFINITY_SETS];

	CPU_ZERO_S(sizeof set, set);
	CPU_SET_S((size_t)cpu, sizeof set, set);
	return sched_setaffinity(0, sizeof set, set) == 0 ? 0 : errno;
}

void affinity_end(const struct affinity *a)
{
	sched_setaffinity(0, sizeof a->set, a->set);
}

int affinity_here(void)
{
	return sched_getcpu();
}

#endif
