/* SPDX-License-Identifier: 0BSD */
/* Which CPUs a thread may run on, and running on one of them. */
#include <config.h>
#include <errno.h>
#include <sched.h>
#include "affinity.h"

#ifdef HAVE_SCHED_SETAFFINITY

#define CPUS_MAX (1 << 20) /* far more than any kernel has */

int affinity_get(struct affinity *a)
{
	/* The kernel refuses a set that is too small for it. */
	for (a->ncpus = 1024; a->ncpus <= CPUS_MAX; a->ncpus *= 2) {
		a->set = CPU_ALLOC(a->ncpus);
		if (a->set == NULL)
			return ENOMEM;
		if (sched_getaffinity(0, CPU_ALLOC_SIZE(a->ncpus), a->set) == 0)
			return 0;
		CPU_FREE(a->set);
		a->set = NULL;
		if (errno != EINVAL)
			break;
	}
	return errno;
}

int affinity_next(const struct affinity *a, int cpu)
{
	const cpu_set_t *set = a->set;

	if (set != NULL)
		while ((size_t)++cpu < a->ncpus)
			if (CPU_ISSET_S((size_t)cpu, CPU_ALLOC_SIZE(a->ncpus),
					set))
				return cpu;
	return -1;
}

int affinity_pin(const struct affinity *a, int cpu)
{
	size_t size = CPU_ALLOC_SIZE(a->ncpus);
	cpu_set_t *one = CPU_ALLOC(a->ncpus);
	int err;

	if (one == NULL)
		return ENOMEM;
	CPU_ZERO_S(size, one);
	CPU_SET_S((size_t)cpu, size, one);
	err = sched_setaffinity(0, size, one) == 0 ? 0 : errno;
	CPU_FREE(one);
	return err;
}

void affinity_end(struct affinity *a)
{
	if (a->set == NULL)
		return;
	sched_setaffinity(0, CPU_ALLOC_SIZE(a->ncpus), a->set);
	CPU_FREE(a->set);
	a->set = NULL;
}

int affinity_here(void)
{
	return sched_getcpu();
}

#else

int affinity_get(struct affinity *a)
{
	a->set = NULL;
	return ENOSYS;
}

int affinity_next(const struct affinity *a, int cpu)
{
	(void)a;
	(void)cpu;
	return -1;
}

int affinity_pin(const struct affinity *a, int cpu)
{
	(void)a;
	(void)cpu;
	return ENOSYS;
}

void affinity_end(struct affinity *a)
{
	(void)a;
}

int affinity_here(void)
{
	return -1;
}

#endif

int affinity_count(const struct affinity *a)
{
	int cpu, n = 0;

	for (cpu = -1; (cpu = affinity_next(a, cpu)) >= 0;)
		n++;
	return n;
}
