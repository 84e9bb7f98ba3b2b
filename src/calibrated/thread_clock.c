/* SPDX-License-Identifier: 0BSD */
/* Of a thread's clock a calibration sees whether it agrees with the ticks. One
 * that does may still be wrong, which shows only while a thread counts. */
#include <config.h>
#include "../arithmetic.h"
#include "../rate/clock.h"
#include "../slot.h"
#include "../system/os_clock.h"
#include "../thread/marks.h"
#include "calibration.h"
#include "constants.h"
#include "thread_clock.h"

/* By two readings of the thread's clock, each between two ticks. Windows stops
 * that clock while it handles an interrupt, so there are several tries. */
bool cpuc_thread_clock_agrees(long long (*tick)(void), uint64_t hz)
{
	uint64_t before, after, later, ran;

	for (int tries = 0; tries < AGREE_TRIES; tries++) {
		before = (uint64_t)tick();
		ran = cpuc_os_clock_thread(hz);
		after = later = (uint64_t)tick();
		/* It was interrupted, or is on a core whose clock is behind. */
		if (after - before > hz / AGREE_PARTS)
			continue;
		while (later - after < AGREE_READINGS * (after - before + 1))
			later = (uint64_t)tick();
		ran = cpuc_os_clock_thread(hz) - ran;
		if (ran + 1 >= later - after &&
		    ran <= (uint64_t)tick() - before + 1)
			return true;
	}
	return false;
}

/* A mark of the process tells a child from its parent. */
bool cpuc_thread_clock_ok(void)
{
	return __atomic_load_n(&cpuc_calibration.clock, __ATOMIC_ACQUIRE) !=
		       NULL &&
	       __atomic_load_n(&cpuc_calibration.thread_clock,
			       __ATOMIC_RELAXED) &&
	       cpuc_process != NULL;
}

uint64_t cpuc_thread_clock(void)
{
	return cpuc_thread_clock_ok()
		       ? cpuc_os_clock_thread(cpuc_calibration.hz)
		       : 0;
}

static uint64_t thread_clock_tick(void)
{
	return (uint64_t)cpuc_calibration.clock->tick();
}

/* Whether the thread's clock, which showed `reading` after the tick `before`,
 * stands still and then leaps. A kernel that distrusts its own clock lets it go
 * on only at a tick of its timer. What the host or an interrupt takes makes it
 * stand, too, but nothing makes a true one overtake the ticks. */
static bool thread_clock_leaps(uint64_t before, uint64_t reading)
{
	uint8_t *stood = &cpuc_calibration.stood;
	uint64_t begun, next, passed, ran, watched = 0;

	if (__atomic_load_n(stood, __ATOMIC_RELAXED) >= LEAP_WATCHES)
		return false;
	while (watched < LEAP_WATCH) {
		begun = thread_clock_tick();
		next = cpuc_thread_clock();
		passed = thread_clock_tick() - before;
		ran = next - reading;
		if (watched > 0 &&
		    ran > passed + passed / LEAP_PART + LEAP_LEAST)
			return true;
		if (ran >= passed / LEAP_STANDS)
			break;
		watched += cpuc_min(passed, LEAP_LEAST);
		before = begun;
		reading = next;
	}
	if (watched > LEAP_LEAST)
		__atomic_store_n(stood,
				 __atomic_load_n(stood, __ATOMIC_RELAXED) + 1,
				 __ATOMIC_RELAXED);
	return false;
}

CPUC_COLD bool cpuc_thread_clock_watch(uint64_t before, uint64_t reading)
{
	if (!thread_clock_leaps(before, reading))
		return true;
	__atomic_store_n(&cpuc_calibration.thread_clock, false,
			 __ATOMIC_RELAXED);
	return false;
}
