/* SPDX-License-Identifier: 0BSD */
/* Which of two functions is faster? cc -O2 compare-two.c -lcpucycles && ./a.out
 *
 * Here both count the ones of a word: one takes 64 turns, the other 6. It
 * prints the medians, the difference with its noise, and most likely "clear is
 * faster".
 *
 * Each timing of one stands between two of the other, so that a change of speed
 * affects both; the difference of those two is noise. A function is faster if
 * every round says so, by more than the noise of any round. The fences are
 * included. Run the program several times: addresses differ from process to
 * process, and so may the verdict. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define CALLS 50 /* in a row: many steps of the counter */
#define TURNS 201
#define ROUNDS 11

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

static double median(double *r)
{
	qsort(r, TURNS, sizeof *r, ascending);
	return r[TURNS / 2];
}

int main(void)
{
	static double s[TURNS], c[TURNS], more[TURNS], drift[TURNS];
	double low = 1e9, high = -1e9, noise = 1; /* a cycle is too little */

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < TURNS; i++) {
			double before = row(shift);
			c[i] = row(clear);
			s[i] = row(shift);
			more[i] = c[i] - (before + s[i]) / 2;
			drift[i] = s[i] - before;
		}
		double m = median(more), d = median(drift);
		low = m < low ? m : low;
		high = m > high ? m : high;
		noise = d > noise ? d : -d > noise ? -d : noise;
	}
	printf("medians: shift %.1f cycles, clear %.1f\n", median(s),
	       median(c));
	printf("clear - shift: %.1f to %.1f, noise %.1f\n", low, high, noise);
	puts(low > noise     ? "shift is faster"
	     : high < -noise ? "clear is faster"
			     : "cannot tell");
	return 0;
}
