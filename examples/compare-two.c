/* SPDX-License-Identifier: 0BSD */
/* Which of two functions is faster? cc -O2 compare-two.c -lcpucycles
 *
 * They take turns: whatever changes the machine's speed changes it for both.
 * One is faster if its upper quartile is below the other's lower quartile. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define TIMINGS 1001 /* the quartiles are then 250, 500 and 750 */

uint64_t word = UINT64_C(0x8001001001001001), ones;

static void shift(void) /* counts the ones in the word: a bit a round */
{
	ones = 0;
	for (uint64_t w = word; w != 0; w >>= 1)
		ones += w & 1;
}

static void clear(void) /* the same: a one a round */
{
	ones = 0;
	for (uint64_t w = word; w != 0; w &= w - 1)
		ones++;
}

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;
	return (x > y) - (x < y);
}

int main(void)
{
	void (*function[2])(void) = {shift, clear};
	static long long timing[2][TIMINGS];

	for (int i = 0; i < 2 * TIMINGS; i++) {
		cpucycles_fence();
		long long start = cpucycles();
		cpucycles_fence();
		function[i % 2]();
		cpucycles_fence();
		timing[i % 2][i / 2] = cpucycles() - start;
	}
	for (int f = 0; f < 2; f++) {
		long long *t = timing[f];
		qsort(t, TIMINGS, sizeof *t, ascending);
		printf("%s: median %lld cycles, quartiles %lld and %lld\n",
		       f ? "clear" : "shift", t[500], t[250], t[750]);
	}
	puts(timing[0][750] < timing[1][250]   ? "shift is faster"
	     : timing[1][750] < timing[0][250] ? "clear is faster"
					       : "too close to call");
	return 0;
}
