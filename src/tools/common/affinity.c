/* SPDX-License-Identifier: 0BSD */
/* Which CPUs a thread may run on, and running on one of them. */
#include <config.h>
#include <errno.h>
#include "affinity.h"

#ifdef _WIN32
#include "../../system/windows/api.h"

/* The CPUs of the process's group. */
int affinity_get(struct affinity *a)
{
	DWORD_PTR own = 0, system;

	GetProcessAffinityMask(GetCurrentProcess(), &own, &system);
	*a = (struct affinity){{own}};
	/* None if the process has threads in several groups. */
	return a->set[0] != 0 ? 0 : ENOSYS;
}

int affinity_end(const struct affinity *a)
{
	return SetThreadAffinityMask(GetCurrentThread(), a->set[0]) ? 0
								    : EINVAL;
}

int affinity_here(void)
{
	return (int)GetCurrentProcessorNumber();
}

#else
#ifdef HAVE_SCHED_SETAFFINITY
#include <sched.h>
#else
#define sched_getaffinity(pid, size, set) ((void)(set), errno = ENOSYS, -1)
#define sched_setaffinity sched_getaffinity
#define sched_getcpu() (-1)
#endif

int affinity_get(struct affinity *a)
{
	*a = (struct affinity){{0}};
	return sched_getaffinity(0, sizeof *a, (void *)a) < 0 ? errno : 0;
}

int affinity_end(const struct affinity *a)
{
	return sched_setaffinity(0, sizeof *a, (const void *)a) ? errno : 0;
}

int affinity_here(void)
{
	return sched_getcpu();
}
#endif

#define WORD (8 * sizeof(size_t))

int affinity_next(const struct affinity *a, int cpu)
{
	size_t i = (size_t)cpu + 1;

	for (; i < 8 * sizeof *a; i++)
		if (a->set[i / WORD] >> i % WORD & 1)
			return (int)i;
	return -1;
}

int affinity_pin(int cpu)
{
	const size_t i = (size_t)cpu;
	struct affinity one = {{0}};

	if (cpu < 0)
		return EINVAL;
	one.set[i / WORD] = (size_t)1 << i % WORD;
	return affinity_end(&one);
}
