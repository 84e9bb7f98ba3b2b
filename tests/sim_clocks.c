/* SPDX-License-Identifier: 0BSD */
/* By which of two ways the system's clocks are read, where a way faults, fails,
 * stands still or advances. os_clock.c is included, as the ways are its own. */
#include <config.h>
#include "tap.h"
#ifndef __linux__
SKIPPED_MAIN("other systems have one way")
#else
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "faults/real.h"

static long pretended_syscall(long number, clockid_t clock, void *to);
static int pretended_gettime(clockid_t clock, struct timespec *t);
#define syscall pretended_syscall
#define clock_gettime pretended_gettime
#include "../src/system/os_clock.c"

/* The two ways, in the C library and in the kernel. */
static enum os_clock_grade in_libc, in_kernel;
static int64_t now, seconds = 1;
static clockid_t asked;

static int answer(enum os_clock_grade grade)
{
	if (grade == FAULTS)
		real_access();
	now += grade == ADVANCES;
	return grade == FAILS ? -1 : 0;
}

static int pretended_gettime(clockid_t clock, struct timespec *t)
{
	asked = clock;
	*t = (struct timespec){(time_t)seconds, (long)now};
	return answer(in_libc);
}

/* On 32-bit hosts the call of narrow times fails. */
static long pretended_syscall(long number, clockid_t clock, void *to)
{
	const int64_t t[2] = {seconds, now};

	(void)number;
	asked = clock;
#ifdef SYS_clock_gettime64
	if (number != SYS_clock_gettime64)
		return -1;
#endif
	memcpy(to, t, sizeof t);
	return answer(in_kernel);
}

/* Of two ways that are as good, the one that is tried first. */
static int better(enum os_clock_grade first, enum os_clock_grade second,
		  int first_way)
{
	const int other = first_way == FAST ? KERNEL : FAST;

	if (first == FAULTS && second == FAULTS)
		return NONE;
	return second > first ? other : first_way;
}

static void check(void)
{
	static const char *const grades[] = {"faults", "fails", "stands still",
					     "advances"};
	const enum os_clock_grade best =
		in_libc > in_kernel ? in_libc : in_kernel;
	uint64_t a, b;

	cpuc_probe_begin();
	cpuc_os_clock_check();
	cpuc_probe_end();
	a = cpuc_os_clock_ns();
	b = cpuc_os_clock_ns();
	ok(way_time == better(in_libc, in_kernel, FAST) &&
		   way_thread == better(in_kernel, in_libc, KERNEL) &&
		   (b > a) == (best == ADVANCES) && (a > 0) == (best > FAILS),
	   "the C library's %s, the kernel's %s: %d, and %d for threads",
	   grades[in_libc], grades[in_kernel], way_time, way_thread);
}

/* A thread's clock in ticks, of which 2^64 have a billion times as many
 * nanoseconds. */
static void check_thread(void)
{
	const uint64_t hz = 2596000000;
	uint64_t ticks, begun;
	int bad = 0;

	for (seconds = 1; seconds < 1000000000; seconds *= 3) {
		now = 499999999; /* one more when it is read */
		begun = hz * (uint64_t)seconds;
		ticks = cpuc_os_clock_thread(hz);
		bad += ticks < begun + hz / 2 - 3 || ticks > begun + hz / 2 + 3;
	}
	seconds = 1;
	ok(bad == 0, "a thread's clock after 1 s to 30 years: %d are wrong",
	   bad);
}

/* Also of the microseconds that each way has. */
static void check_asked(void)
{
	bool right = true;

	for (way_time = KERNEL; way_time <= FAST; way_time++) {
		way_thread = way_time;
		cpuc_os_clock_ns();
		right &= asked == CLOCK_MONOTONIC;
		right &= cpuc_os_clock_us() ==
			 (UINT64_C(1000000000) + (uint64_t)now) / 1000;
		right &= asked == CLOCK_REALTIME;
		cpuc_os_clock_coarse_ns();
		right &= asked == CLOCK_MONOTONIC_COARSE;
		cpuc_os_clock_thread(1);
		right &= asked == CLOCK_THREAD_CPUTIME_ID;
	}
	ok(right,
	   "CLOCK_MONOTONIC, the time of day and the thread's clock are read");
}

int main(void)
{
	for (in_libc = FAULTS; in_libc <= ADVANCES; in_libc++)
		for (in_kernel = FAULTS; in_kernel <= ADVANCES; in_kernel++)
			check();
	in_libc = in_kernel = ADVANCES;
	cpuc_os_clock_check();
	ok(way_time == KERNEL && way_thread == KERNEL,
	   "no handler can be installed: by system calls");
	check_thread();
	check_asked();
	return done_testing();
}
#endif
