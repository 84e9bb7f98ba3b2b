/* SPDX-License-Identifier: 0BSD */
/* affinity.h for Windows: the CPUs of the process's group, 64 at most. */
#include <config.h>
#include <errno.h>
#include "../../system/windows/api.h"
#include "../common/affinity.h"

int affinity_get(struct affinity *a)
{
	DWORD_PTR process, system;

	/* 0 if the process has threads in several groups. */
	a->set = GetProcessAffinityMask(GetCurrentProcess(), &process, &system)
			 ? process
			 : 0;
	return a->set != 0 ? 0 : ENOSYS;
}

int affinity_next(const struct affinity *a, int cpu)
{
	while (++cpu < 64)
		if (a->set >> cpu & 1)
			return cpu;
	return -1;
}

int affinity_pin(int cpu)
{
	return SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)1 << cpu)
		       ? 0
		       : EINVAL;
}

void affinity_end(const struct affinity *a)
{
	SetThreadAffinityMask(GetCurrentThread(), (DWORD_PTR)a->set);
}

int affinity_here(void)
{
	return (int)GetCurrentProcessorNumber();
}
