/* SPDX-License-Identifier: 0BSD */
/* What the benchmarks share: a clock, medians, the bare instruction. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cpucycles.h"

__attribute__((unused)) static double bench_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int bench_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The p-th percentile of v[0 ... n), which is sorted by this. */
__attribute__((unused)) static double bench_percentile(double *v, size_t n,
						       double p)
{
	qsort(v, n, sizeof *v, bench_ascending);
	return v[(size_t)((double)(n - 1) * p / 100 + 0.5)];
}

/* The instruction that the library's own readers of this host are built on,
 * inline: the limit for a call. */
#if defined(__x86_64__) || defined(__i386__)
#define BENCH_BARE "rdtsc"
static inline long long bench_bare(void)
{
	return (long long)__builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define BENCH_BARE "mrs cntvct_el0"
static inline long long bench_bare(void)
{
	long long t;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(t));
	return t;
}
#else
#define BENCH_BARE "clock_gettime"
static inline long long bench_bare(void)
{
	return (long long)bench_ns();
}
#endif

/* One line that says where a long benchmark is, on a terminal only. */
__attribute__((unused)) static void bench_progress(const char *what)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K%s", what);
}

#endif
