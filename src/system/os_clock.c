/* SPDX-License-Identifier: 0BSD */
/* os_clock.h for POSIX. */
#include <config.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include "os_clock.h"
#include "probe.h"

/* Linux's vDSO reads the time in user space, mostly by the TSC, and then faults
 * where that is forbidden. A sandbox may answer the system call with SIGSYS. So
 * safe ways are found for the clocks of time and for the thread's clock. */
enum way {
	KERNEL, /* system calls, also until cpuc_os_clock_check */
	FAST,
	NONE /* any call faults */
};

static int way_time, way_thread;
bool cpuc_tsc_forbidden;

#define ADVANCE_READS 1000 /* more in a step: the clock is coarse */

/* macOS rounds CLOCK_MONOTONIC to microseconds. */
#if defined __APPLE__ && defined CLOCK_MONOTONIC_RAW
#define OS_CLOCK_FINE CLOCK_MONOTONIC_RAW
#else
#define OS_CLOCK_FINE CLOCK_MONOTONIC
#endif
#ifdef CLOCK_MONOTONIC_COARSE
#define OS_CLOCK_COARSE CLOCK_MONOTONIC_COARSE
#else
#define OS_CLOCK_COARSE OS_CLOCK_FINE
#endif

static uint64_t os_clock_join(int64_t sec, int64_t nsec)
{
	return (uint64_t)sec * 1000000000 + (uint64_t)nsec;
}

#ifdef SYS_clock_gettime64
/* 32-bit hosts, whatever the user's time_t. Linux has had this call since 5.1;
 * a sandbox may deny it by any errno. */
static uint64_t os_clock_kernel_ns(clockid_t clock)
{
	int64_t wide[2] = {0, 0};
#ifdef SYS_clock_gettime
	long narrow[2] = {0, 0};
#endif

	if (syscall(SYS_clock_gettime64, clock, wide) == 0)
		return os_clock_join(wide[0], wide[1]);
#ifdef SYS_clock_gettime
	if (syscall(SYS_clock_gettime, clock, narrow) == 0)
		return os_clock_join(narrow[0], narrow[1]);
#endif
	return 0;
}
#else
static uint64_t os_clock_kernel_ns(clockid_t clock)
{
	struct timespec t = {0, 0};
#ifdef SYS_clock_gettime
	int failed = (int)syscall(SYS_clock_gettime, clock, &t);
#else
	int failed = clock_gettime(clock, &t);
#endif

	return failed ? 0 : os_clock_join(t.tv_sec, t.tv_nsec);
}
#endif

static uint64_t os_clock_read(const int *way, clockid_t clock)
{
	const int now = __atomic_load_n(way, __ATOMIC_RELAXED);
	struct timespec t = {0, 0};
	uint64_t ns = 0;
	int saved = errno;

	if (now == KERNEL)
		ns = os_clock_kernel_ns(clock);
	else if (now == FAST && clock_gettime(clock, &t) == 0)
		ns = os_clock_join(t.tv_sec, t.tv_nsec);
	errno = saved;
	return ns;
}

uint64_t cpuc_os_clock_ns(void)
{
	return os_clock_read(&way_time, OS_CLOCK_FINE);
}

uint64_t cpuc_os_clock_us(void)
{
	return os_clock_read(&way_time, CLOCK_REALTIME) / 1000;
}

uint64_t cpuc_os_clock_coarse_ns(void)
{
	return os_clock_read(&way_time, OS_CLOCK_COARSE);
}

uint64_t cpuc_os_clock_thread(uint64_t hz)
{
	uint64_t ns = os_clock_read(&way_thread, CLOCK_THREAD_CPUTIME_ID);

	return ns / 1000000000 * hz + ns % 1000000000 * hz / 1000000000;
}

static void os_clock_ask_tsc(void *forbidden)
{
#ifdef PR_GET_TSC
	int mode = 0;

	if (prctl(PR_GET_TSC, &mode) == 0)
		*(bool *)forbidden = mode == PR_TSC_SIGSEGV;
#else
	(void)forbidden;
#endif
}

enum os_clock_grade {
	FAULTS,
	FAILS, /* as where a filter denies the call */
	STANDS,
	ADVANCES
};

struct os_clock_trial {
	clockid_t clock;
	int way;
	enum os_clock_grade grade;
	bool begun; /* false where no handler can be installed */
};

static void os_clock_try(void *arg)
{
	struct os_clock_trial *t = arg;
	uint64_t first;
	int reads;

	t->begun = true;
	first = os_clock_read(&t->way, t->clock);
	t->grade = first == 0 ? FAILS : STANDS;
	for (reads = 0; t->grade == STANDS && reads < ADVANCE_READS; reads++)
		if (os_clock_read(&t->way, t->clock) != first)
			t->grade = ADVANCES;
}

/* The first way by which the clock advances, or else can be read (coarse). */
static void os_clock_find_way(int *way, clockid_t clock, int first)
{
	struct os_clock_trial t = {clock, first, FAULTS, false};
	enum os_clock_grade best = FAULTS;
	int i, found = NONE;

	for (i = 0; i < 2 && best < ADVANCES; i++) {
		if (cpuc_probe(os_clock_try, &t) != 0)
			t.grade = FAULTS;
		if (!t.begun)
			found = KERNEL;
		if (t.grade > best) {
			best = t.grade;
			found = t.way;
		}
		t.way = first == KERNEL ? FAST : KERNEL;
	}
	__atomic_store_n(way, found, __ATOMIC_RELAXED);
}

void cpuc_os_clock_check(void)
{
	cpuc_probe(os_clock_ask_tsc, &cpuc_tsc_forbidden);
	os_clock_find_way(&way_time, OS_CLOCK_FINE,
			  cpuc_tsc_forbidden ? KERNEL : FAST);
	os_clock_find_way(&way_thread, CLOCK_THREAD_CPUTIME_ID, KERNEL);
}
