/* SPDX-License-Identifier: 0BSD */
/* Shared by the benchmarks: a clock, their output, the bare instruction. */
#ifndef BENCH_H
#define BENCH_H

#include <time.h>
#include "../../src/tools/common/stats.h"

static inline long long bench_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
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
	return bench_ns();
}
#endif

/* Prints a value as tests/bench/run reads it: a line of fields between tabs.
 * Its row and column need not exist before. */
void bench_value(const char *table, const char *row, const char *column,
		 const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Ends the program: nothing can be measured here, for this reason. */
void bench_skip(const char *why) __attribute__((noreturn));

/* So many rounds, or a tenth where BENCH_QUICK is set: to see that everything
 * runs, not for its figures. Always odd, so that there is a median. */
int bench_rounds(int n);

#endif
