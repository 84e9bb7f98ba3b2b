/* SPDX-License-Identifier: 0BSD */
/* Shared by the benchmarks, each of which is one file: a clock, the bare
 * instruction, their output, and the counters. */
#ifndef BENCH_H
#define BENCH_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cpucycles.h"
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

/* Prints a value as bench.py reads it: a line of fields between tabs.
 * Its row and column need not exist before. */
__attribute__((format(printf, 4, 5))) static inline void
bench_value(const char *table, const char *row, const char *column,
	    const char *fmt, ...)
{
	va_list ap;

	printf("value\t%s\t%s\t%s\t", table, row, column);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* Ends the program: nothing can be measured here, for this reason. */
__attribute__((noreturn)) static inline void bench_skip(const char *why)
{
	fprintf(stderr, "bench: %s\n", why);
	exit(77);
}

/* So many rounds, or a tenth where BENCH_QUICK is set: to see that everything
 * runs, not for its figures. Always odd, so that there is a median. */
static inline int bench_rounds(int n)
{
	return (getenv("BENCH_QUICK") ? n / 10 : n) | 1;
}

/* The next usable counter that counts, from index *i on, selected in the linked
 * library. False: there is none any more. */
static inline bool bench_next(unsigned *i, struct cpucycles_counter *c)
{
	while (cpucycles_counter((*i)++, c, sizeof *c) == 0)
		if (c->usable && c->kind_id != CPUCYCLES_ZERO &&
		    cpucycles_select(c->name) == 0)
			return true;
	return false;
}

#endif
