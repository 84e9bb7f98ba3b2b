/* SPDX-License-Identifier: 0BSD */
/* os_clock.h for Windows, whose clock never fails. */
#include <config.h>
#include "../os_clock.h"
#include "api.h"

#define AGREE_TRIES 5
#define AGREE_READINGS 20 /* that a try takes */

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

/* The thread's clock, read between two ticks. */
struct os_clock_reading {
	uint64_t before, ran, after;
};

static struct os_clock_reading os_clock_reading(long long (*tick)(void))
{
	const uint64_t before = (uint64_t)tick(), ran = cpuc_os_clock_thread(0);

	return (struct os_clock_reading){before, ran, (uint64_t)tick()};
}

/* The thread's clock stands still while Windows handles an interrupt, so there
 * are several tries. */
bool cpuc_os_clock_thread_agrees(long long (*tick)(void))
{
	struct os_clock_reading a, b;
	int tries;

	for (tries = 0; tries < AGREE_TRIES; tries++) {
		a = os_clock_reading(tick);
		do
			b = os_clock_reading(tick);
		while (b.after - a.after <
		       AGREE_READINGS * (a.after - a.before));
		if (a.ran != 0 && b.ran - a.ran >= b.before - a.after &&
		    b.ran - a.ran <= b.after - a.before)
			return true;
	}
	return false;
}

void cpuc_os_clock_check(void)
{
}

bool cpuc_tsc_forbidden(void)
{
	return false;
}
