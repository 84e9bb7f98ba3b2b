/* SPDX-License-Identifier: 0BSD */
/* Times a function of a few hundred cycles:
 * cc -O2 time-a-function.c -lcpucycles
 *
 * Code that short drowns in what measuring adds: the CPU overlaps it with its
 * neighbours, reading the counter takes cycles, and now and then an interrupt
 * comes in. So fence each reading, subtract what an empty interval takes, and
 * use medians of many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define TIMINGS 1001 /* odd: the median is one of them */

/* In memory that others can see: a fence holds memory accesses in place, but
 * not arithmetic that needs none. */
unsigned char message[50];
uint64_t hash;

static void function(void)
{
	hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < sizeof message; i++)
		hash = (hash ^ message[i]) * UINT64_C(0x100000001b3);
}

static long long count(void)
{
	cpucycles_fence();
	long long c = cpucycles();
	cpucycles_fence();
	return c;
}

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	static long long empty[TIMINGS], full[TIMINGS];

	cpucycles(); /* the first call chooses the counter */
	for (int i = 0; i < TIMINGS; i++) {
		long long start = count();
		empty[i] = count() - start;
		start = count();
		function();
		full[i] = count() - start;
	}
	qsort(empty, TIMINGS, sizeof *empty, ascending);
	qsort(full, TIMINGS, sizeof *full, ascending);
	printf("%lld cycles (%s, %s)\n", full[TIMINGS / 2] - empty[TIMINGS / 2],
	       cpucycles_implementation(), cpucycles_kind());
	return 0;
}
