/* SPDX-License-Identifier: 0BSD */
/* Times a function of a few hundred cycles:
 * cc -O2 time-a-function.c -lcpucycles && ./a.out
 *
 * This one hashes 50 bytes by as many steps of 4 cycles on most CPUs, each of
 * which waits for the one before. It prints 194.5 cycles or so, as the last
 * steps overlap with the return, and the kind of the counter.
 *
 * Many counters advance by dozens of cycles at once, and reading one takes
 * time. So this times a row of calls with fences between them, takes the median
 * of many rows, which disturbances hardly change, and subtracts that of empty
 * calls. */
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

static void function(void) /* the code to be timed */
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

	for (int i = 0; i < TIMINGS; i++) {
		long long start = cpucycles();
		for (int call = 0; call < CALLS; call++) {
			cpucycles_fence();
			timed();
			cpucycles_fence();
		}
		row[i] = cpucycles() - start;
	}
	qsort(row, TIMINGS, sizeof *row, ascending);
	return (double)row[TIMINGS / 2] / CALLS;
}

int main(void)
{
	cycles(function); /* selects a counter, and warms up */
	double net = cycles(function) - cycles(nothing);
	printf("%.1f cycles (%s)\n", net, cpucycles_kind());
	return 0;
}
