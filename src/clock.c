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
 * that is the clock source, and so faults where that is forbidden. Set when
 * known to be safe; a plain word that all threads may read at any time. */
static int vdso_works;

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
#endif

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;
	int saved = errno;

#ifdef HAVE_KERNEL_NS
	if (!__atomic_load_n(&vdso_works, __ATOMIC_RELAXED))
		return kernel_ns(clock);
#endif
	if (clock_gettime(clock, &t) != 0) {
		errno = saved;
		return 0;
	}
	return ns_of(t.tv_sec, t.tv_nsec);
}

uint64_t cpuc_clock_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t cpuc_clock_coarse_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
	return clock_ns(CLOCK_MONOTONIC_COARSE);
#else
	return clock_ns(CLOCK_MONOTONIC);
#endif
}

uint64_t cpuc_clock_us(void)
{
	struct timeval t;

#ifdef HAVE_KERNEL_NS
	if (!__atomic_load_n(&vdso_works, __ATOMIC_RELAXED))
		return kernel_ns(CLOCK_REALTIME) / 1000;
#endif
	gettimeofday(&t, NULL);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_usec;
}

bool cpuc_tsc_forbidden(void)
{
#ifdef PR_GET_TSC
	int mode = 0, saved = errno;

	if (prctl(PR_GET_TSC, &mode) == 0)
		return mode == PR_TSC_SIGSEGV;
	errno = saved;
#endif
	return false;
}

static void try_fast_paths(void *unused)
{
	struct timespec t;
	struct timeval v;

	(void)unused;
	clock_gettime(CLOCK_MONOTONIC, &t);
	gettimeofday(&v, NULL);
}

void cpuc_clock_check(void)
{
	int works = !cpuc_tsc_forbidden() && !cpuc_probe(try_fast_paths, NULL);

	__atomic_store_n(&vdso_works, works, __ATOMIC_RELAXED);
}
