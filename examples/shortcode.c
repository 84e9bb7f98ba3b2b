/* SPDX-License-Identifier: 0BSD */
/* Times a function of a few hundred cycles: cc -O2 shortcode.c -lcpucycles
 *
 * Code that short drowns in what measuring it adds: the CPU overlaps it with
 * its neighbours, reading the counter takes cycles of its own, and now and
 * then an interrupt comes in between. So: fence each reading, subtract what an
 * empty interval takes, and take the median of many. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define TIMINGS 1001 /* odd: the median is one of them */
#define LENGTH 50

/* What the timed function reads and writes must be in memory that others
 * could see: the fence keeps the compiler from moving memory accesses across
 * it, but not from moving arithmetic that needs no memory. */
unsigned char message[LENGTH];
volatile uint64_t result;

/* The function to time: the FNV-1a hash. An exclusive or and a
 * multiplication a byte, each waiting for the one before. */
static uint64_t hash(const unsigned char *text, size_t length)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	size_t i;

	for (i = 0; i < length; i++)
		h = (h ^ text[i]) * UINT64_C(0x100000001b3);
	return h;
}

/* A count that earlier code is before and later code is after. */
static inline long long count(void)
{
	long long c;

	cpucycles_fence();
	c = cpucycles();
	cpucycles_fence();
	return c;
}

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

/* Interrupts only ever add cycles, to a few of the timings: the median does
 * not see them. The minimum does not either, but depends on luck, and on how
 * many timings there are. */
static long long median(long long *timing)
{
	qsort(timing, TIMINGS, sizeof *timing, ascending);
	return timing[TIMINGS / 2];
}

int main(void)
{
	static long long empty[TIMINGS], full[TIMINGS];
	long long start, overhead, cycles;
	int i;

	for (i = 0; i < LENGTH; i++)
		message[i] = (unsigned char)i;
	/* Chooses the counter; also brings the code into the caches. */
	cpucycles();
	result = hash(message, LENGTH);

	/* Both in one loop, so that both see the same state of the CPU. */
	for (i = 0; i < TIMINGS; i++) {
		start = count();
		empty[i] = count() - start;

		start = count();
		result = hash(message, LENGTH);
		full[i] = count() - start;
	}
	overhead = median(empty);
	cycles = median(full) - overhead;

	/* A counter that advances in steps gives multiples of them, so this
	 * is right to a step or so. What takes less than some steps is better
	 * timed as several calls in one interval. */
	printf("hash of %d bytes: %lld cycles (%s, %s), with %lld more "
	       "subtracted\n",
	       LENGTH, cycles, cpucycles_implementation(), cpucycles_kind(),
	       overhead);
	return 0;
}
