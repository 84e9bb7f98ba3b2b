/* SPDX-License-Identifier: 0BSD */
/* Which CPUs a thread may run on, and running on one of them. */
#ifndef AFFINITY_H
#define AFFINITY_H

#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#endif

/* No CPU where it is unknown which they are. */
struct affinity {
#ifdef HAVE_SCHED_SETAFFINITY
	/* The largest kernels have 8192 CPUs, and refuse a smaller set. */
#define AFFINITY_SETS 8
	cpu_set_t set[AFFINITY_SETS];
#else
	unsigned long long set; /* a bit each */
#endif
};

#if defined HAVE_SCHED_SETAFFINITY || defined _WIN32

/* The CPUs that the calling thread may run on now. 0, or an errno. */
int affinity_get(struct affinity *a);

/* The next of them above `cpu`, or -1. The first is that above -1. */
int affinity_next(const struct affinity *a, int cpu);

/* Has the thread run on this CPU alone. 0, or an errno. */
int affinity_pin(int cpu);

/* Lets the thread run where it could when `a` was got. */
void affinity_end(const struct affinity *a);

/* The CPU that the thread runs on, or -1. */
int affinity_here(void);

#else /* a thread cannot choose */
#include <errno.h>
#define affinity_next(a, cpu) ((void)(a), (void)(cpu), -1)
#define affinity_end(a) ((void)(a))
#define affinity_here() (-1)

static inline int affinity_get(struct affinity *a)
{
	a->set = 0;
	return ENOSYS;
}

static inline int affinity_pin(int cpu)
{
	(void)cpu;
	return ENOSYS;
}
#endif

#endif
