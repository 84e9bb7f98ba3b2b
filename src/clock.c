/* SPDX-License-Identifier: 0BSD */
/* The operating system's clocks, also where their fast paths fault. */
#include <config.h>
#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/time.h>
#ifdef __linux__
#include <linux/posix_types.h>
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

#if defined(__linux__) && (defined(SYS_clock_gettime) || \
			   defined(SYS_clock_gettime64))
/* The system call itself. Its structure has the kernel's words: the C
 * library's timespec may be wider on 32-bit hosts. */
static uint64_t kernel_ns(clockid_t clock)
{
#ifdef SYS_clock_gettime
	struct {
		__kernel_long_t sec, nsec;
	} t;
	long nr = SYS_clock_gettime;
#else
	struct {
		int64_t sec, nsec;
	} t;
	long nr = SYS_clock_gettime64;
#endif
	int saved = errno;

	if (syscall(nr, clock, &t) != 0) {
		errno = saved;
		return 0;
	}
	return ns_of(t.sec, t.nsec);
}
#define HAVE_KERNEL_NS 1
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
