/* SPDX-License-Identifier: 0BSD */
/* os_clock.h for Windows, whose clock never fails. */
#include <config.h>
#include "../os_clock.h"
#include "api.h"

uint64_t cpuc_os_clock_ns(void)
{
	LARGE_INTEGER now, hz;
	uint64_t ticks, rest;

	QueryPerformanceFrequency(&hz);
	QueryPerformanceCounter(&now);
	ticks = (uint64_t)now.QuadPart;
	rest = ticks % (uint64_t)hz.QuadPart;
	return (ticks - rest) / (uint64_t)hz.QuadPart * 1000000000 +
	       rest * 1000000000 / (uint64_t)hz.QuadPart;
}

/* On x86 this is the TSC's advance while the thread ran. (The times of
 * GetThreadTimes() have steps of 15 ms.) */
uint64_t cpuc_os_clock_thread(uint64_t hz)
{
	ULONG64 ticks = 0;

	(void)hz;
	return QueryThreadCycleTime(GetCurrentThread(), &ticks) ? ticks : 0;
}

void cpuc_os_clock_check(void)
{
}

bool cpuc_tsc_forbidden;
