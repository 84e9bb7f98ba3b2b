/* SPDX-License-Identifier: 0BSD */
/* The operating system's clocks, also where their fast paths fault. */
#include <config.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include "clock.h"
#include "probe.h"

/* Linux's vDSO reads the clock in user space, by the time-stamp counter where
 * that is the clock source, and so faults where that is forbidden; a sandbox
 * may answer the system call with SIGSYS. Each clock has the way that is known
 * to be safe: plain words that all threads may read at any time. */
enum way {
	KERNEL, /* by system calls, as long as nothing is known */
	FAST,
	NONE /* any call faults */
};

static int way_ns, way_us;

static uint64_t ns_of(int64_t sec, int64_t nsec)
{
	return (uint64_t)sec * 1000000000 + (uint64_t)nsec;
}

#if defined(SYS_clock_gettime64)
#define HAVE_KERNEL_NS 1
/* The system call of 32-bit hosts, whose time_t may have 32 bits or 64: the
 * kernel's words have 64. Before Linux 5.1 there was only the other one. */
static int kernel_time(clockid_t clock, int64_t *sec, int64_t *nsec)
{
	int64_t wide[2] = {0, 0};
#ifdef SYS_clock_gettime
	long narrow[2] = {0, 0};
#endif

	if (syscall(SYS_clock_gettime64, clock, wide) == 0) {
		*sec = wide[0];
		*nsec = wide[1];
		return 0;
	}
#ifdef SYS_clock_gettime
	if (errno == ENOSYS && syscall(SYS_clock_gettime, clock, narrow) == 0) {
		*sec = narrow[0];
		*nsec = narrow[1];
		return 0;
	}
#endif
	return -1;
}
#elif defined(SYS_clock_gettime)
#define HAVE_KERNEL_NS 1
/* The C library's structure is the kernel's. */
static int kernel_time(clockid_t clock, int64_t *sec, int64_t *nsec)
{
	struct timespec t = {0, 0};

	if (syscall(SYS_clock_gettime, clock, &t) != 0)
		return -1;
	*sec = t.tv_sec;
	*nsec = t.tv_nsec;
	return 0;
}
#endif

#ifdef HAVE_KERNEL_NS
static uint64_t kernel_ns(clockid_t clock)
{
	int64_t sec = 0, nsec = 0;
	int saved = errno;

	if (kernel_time(clock, &sec, &nsec) != 0)
		errno = saved;
	return ns_of(sec, nsec);
}

/* A call of its own where its words have 64 bits: who denies the one may
 * allow the other. */
static uint64_t kernel_us(void)
{
#if defined(SYS_gettimeofday) && !defined(SYS_clock_gettime64)
	struct timeval t = {0, 0};
	int saved = errno;

	if (syscall(SYS_gettimeofday, &t, NULL) != 0)
		errno = saved;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
#else
	return kernel_ns(CLOCK_REALTIME) / 1000;
#endif
}
#endif

static uint64_t ns_by(int way, clockid_t clock)
{
	struct timespec t;
	int saved = errno;

	if (way == NONE)
		return 0;
#ifdef HAVE_KERNEL_NS
	if (way == KERNEL)
		return kernel_ns(clock);
#endif
	if (clock_gettime(clock, &t) != 0) {
		errno = saved;
		return 0;
	}
	return ns_of(t.tv_sec, t.tv_nsec);
}

static uint64_t monotonic(int way)
{
	return ns_by(way, CLOCK_MONOTONIC);
}

static uint64_t time_of_day(int way)
{
	struct timeval t = {0, 0};
	int saved = errno;

	if (way == NONE)
		return 0;
#ifdef HAVE_KERNEL_NS
	if (way == KERNEL)
		return kernel_us();
#endif
	if (gettimeofday(&t, NULL) != 0)
		errno = saved;
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

uint64_t cpuc_clock_ns(void)
{
	return monotonic(__atomic_load_n(&way_ns, __ATOMIC_RELAXED));
}

uint64_t cpuc_clock_coarse_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
	return ns_by(__atomic_load_n(&way_ns, __ATOMIC_RELAXED),
		     CLOCK_MONOTONIC_COARSE);
#else
	return cpuc_clock_ns();
#endif
}

uint64_t cpuc_clock_us(void)
{
	return time_of_day(__atomic_load_n(&way_us, __ATOMIC_RELAXED));
}

static void ask_tsc(void *forbidden)
{
#ifdef PR_GET_TSC
	int mode = 0, saved = errno;

	if (prctl(PR_GET_TSC, &mode) == 0)
		*(bool *)forbidden = mode == PR_TSC_SIGSEGV;
	errno = saved;
#else
	(void)forbidden;
#endif
}

/* A sandbox that answers the question with a signal has not forbidden the
 * counter. */
bool cpuc_tsc_forbidden(void)
{
	bool forbidden = false;

	cpuc_probe(ask_tsc, &forbidden);
	return forbidden;
}

struct trial {
	uint64_t (*clock)(int way);
	int way;
	bool begun; /* not so where no handler can be installed */
};

static void try_clock(void *arg)
{
	struct trial *t = arg;

	t->begun = true;
	t->clock(t->way);
}

static int find_way(uint64_t (*clock)(int way), bool forbidden)
{
	struct trial t = {clock, FAST, false};

	if (!forbidden && cpuc_probe(try_clock, &t) == 0)
		return FAST;
	t.way = KERNEL;
	return cpuc_probe(try_clock, &t) == 0 || !t.begun ? KERNEL : NONE;
}

void cpuc_clock_check(void)
{
	bool forbidden = cpuc_tsc_forbidden();

	__atomic_store_n(&way_ns, find_way(monotonic, forbidden),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&way_us, find_way(time_of_day, forbidden),
			 __ATOMIC_RELAXED);
}
