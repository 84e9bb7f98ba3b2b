/* SPDX-License-Identifier: 0BSD */
/* Which of two functions is faster? cc -O2 compare-two.c -lcpucycles
 *
 * They take turns, so that a change of speed affects both. One is faster if its
 * upper quartile is below the other's lower one. Both include the fences. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define CALLS 50     /* in a row: many steps of the counter */
#define TIMINGS 1001 /* the quartiles are then 250, 500 and 750 */

uint64_t word = UINT64_C(0x8001001001001001), ones;

static void shift(void) /* counts ones, bit by bit */
{
	ones = 0;
	for (uint64_t w = word; w != 0; w >>= 1)
		ones += w & 1;
}

static void clear(void) /* the same, one by one */
{
	ones = 0;
	for (uint64_t w = word; w != 0; w &= w - 1)
		ones++;
}

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static double row(void (*timed)(void)) /* cycles per call */
{
	long long start = cpucycles();
	for (int call = 0; call < CALLS; call++) {
		cpucycles_fence();
		timed();
		cpucycles_fence();
	}
	return (double)(cpucycles() - start) / CALLS;
}

static void summarize(const char *name, double *r)
{
	qsort(r, TIMINGS, sizeof *r, ascending);
	printf("%s: median %.1f cycles, ", name, r[500]);
	printf("quartiles %.1f and %.1f\n", r[250], r[750]);
}

int main(void)
{
	static double s[TIMINGS], c[TIMINGS];

	cpucycles(); /* the first call selects the counter */
	for (int i = 0; i < TIMINGS; i++) {
		s[i] = row(shift);
		c[i] = row(clear);
	}
	summarize("shift", s);
	summarize("clear", c);
	puts(s[750] < c[250]   ? "shift is faster"
	     : c[750] < s[250] ? "clear is faster"
			       : "too close to call");
	return 0;
}
