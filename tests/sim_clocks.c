/* SPDX-License-Identifier: 0BSD */
/* By which of two ways the system's clocks are read, where a way faults, fails,
 * stands still or advances. os_clock.c is included, as the ways are its own. */
#include <config.h>
#include "tap.h"
#ifndef __linux__
SKIPPED_MAIN("other systems have one way")
#else
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "system/probe.h"

static long pretended_syscall(long number, ...);
static int pretended_gettime(clockid_t clock, struct timespec *t);
#define syscall pretended_syscall
#define clock_gettime pretended_gettime
#include "../src/system/os_clock.c"

/* The two ways, in the C library and in the kernel. */
static enum os_clock_grade in_libc, in_kernel;
static int64_t now;
static bool handlers = true;
static jmp_buf fault;

static int answer(enum os_clock_grade grade)
{
	if (grade == FAULTS)
		longjmp(fault, 1);
	now += grade == ADVANCES;
	return grade == FAILS ? -1 : 0;
}

static int pretended_gettime(clockid_t clock, struct timespec *t)
{
	(void)clock;
	if (answer(in_libc) != 0)
		return -1;
	*t = (struct timespec){1, (long)now};
	return 0;
}

static long pretended_syscall(long number, ...)
{
	const long narrow[2] = {1, (long)now};
	va_list ap;
	void *to;

	va_start(ap, number);
	(void)va_arg(ap, clockid_t);
	to = va_arg(ap, void *);
	va_end(ap);
#ifdef SYS_clock_gettime64
	if (number == SYS_clock_gettime64) {
		const int64_t wide[2] = {1, now};

		memcpy(to, wide, sizeof wide);
		return answer(in_kernel);
	}
#endif
	memcpy(to, narrow, sizeof narrow);
	return answer(in_kernel);
}

int cpuc_probe(void (*fn)(void *), void *arg)
{
	if (!handlers)
		return SIGSYS;
	if (setjmp(fault) != 0)
		return SIGSEGV;
	fn(arg);
	return 0;
}

static const char *const grades[] = {"faults", "fails", "stands still",
				     "advances"};

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
	const enum os_clock_grade best =
		in_libc > in_kernel ? in_libc : in_kernel;
	uint64_t a, b;

	cpuc_os_clock_check();
	a = cpuc_os_clock_ns();
	b = cpuc_os_clock_ns();
	ok(way_time == better(in_libc, in_kernel, FAST) &&
		   way_thread == better(in_kernel, in_libc, KERNEL) &&
		   (b > a) == (best == ADVANCES) && (a > 0) == (best > FAILS),
	   "the C library's %s, the kernel's %s: %d, and %d for threads",
	   grades[in_libc], grades[in_kernel], way_time, way_thread);
}

int main(void)
{
	int i, j;

	for (i = FAULTS; i <= ADVANCES; i++)
		for (j = FAULTS; j <= ADVANCES; j++) {
			in_libc = (enum os_clock_grade)i;
			in_kernel = (enum os_clock_grade)j;
			check();
		}
	in_libc = in_kernel = ADVANCES;
	handlers = false;
	cpuc_os_clock_check();
	ok(way_time == KERNEL && way_thread == KERNEL,
	   "no handler can be installed: by system calls");
	return done_testing();
}
#endif
