/* SPDX-License-Identifier: 0BSD */
/* Which CPUs a thread may run on, and running on one of them. */
#ifndef AFFINITY_H
#define AFFINITY_H

#include <stddef.h>

/* A bit for each of 8192 CPUs: the largest kernels refuse a smaller set. */
struct affinity {
	size_t set[1024 / sizeof(size_t)]; /* as the kernel has it */
};

/* The CPUs that the calling thread may run on now. 0, or an errno: ENOSYS where
 * a thread cannot choose. */
int affinity_get(struct affinity *a);

/* The next of them above `cpu`, or -1. The first is that above -1. */
int affinity_next(const struct affinity *a, int cpu);

/* Has the thread run on this CPU alone. 0, or an errno. */
int affinity_pin(int cpu);

/* Lets the thread run where it could when `a` was got. 0, or an errno. */
int affinity_end(const struct affinity *a);

/* The CPU that the thread runs on, or -1. */
int affinity_here(void);

#endif
