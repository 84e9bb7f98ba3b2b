/* SPDX-License-Identifier: 0BSD */
/* Times a function of a few hundred cycles:
 * cc -O2 time-a-function.c -lcpucycles
 *
 * Many counters advance by dozens of cycles at once, and reading one takes
 * time. So this times a row of calls with fences between them, drops timings in
 * which the thread was interrupted, takes the median, and subtracts that of
 * empty calls. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define CALLS 50 /* in a row: many steps of the counter */
#define TIMINGS 1001

/* Global, because a fence holds memory accesses in place, but not
 * arithmetic on local variables. */
unsigned char message[50];
uint64_t hash;
int dropped;

static void function(void)
{
	hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < sizeof message; i++)
		hash = (hash ^ message[i]) * UINT64_C(0x100000001b3);
}

static void nothing(void)
{
}

static int ascending(const void *a, const void *b)
{
	const long long *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static double cycles(void (*timed)(void)) /* per call, median */
{
	static long long row[TIMINGS];
	size_t n = 0;

	for (int i = 0; i < TIMINGS; i++) {
		long long before = cpucycles_switches();
		long long start = cpucycles();
		for (int call = 0; call < CALLS; call++) {
			cpucycles_fence();
			timed();
			cpucycles_fence();
		}
		row[n] = cpucycles() - start;
		n += cpucycles_switches() == before;
	}
	qsort(row, n, sizeof *row, ascending);
	dropped += TIMINGS - (int)n;
	return (double)row[n / 2] / CALLS;
}

int main(void)
{
	cpucycles(); /* the first call selects the counter */
	double net = cycles(function) - cycles(nothing);
	printf("%.1f cycles (%s, %s), %d of %d dropped\n", net,
	       cpucycles_implementation(), cpucycles_kind(), dropped,
	       2 * TIMINGS);
	return 0;
}
