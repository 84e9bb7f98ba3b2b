/* SPDX-License-Identifier: 0BSD */
/* What a fence is for: cc -O2 fence.c -lcpucycles && ./a.out
 *
 * With fences this times how long one call takes: a chain of 24 multiplications
 * about 72 cycles on x86. Without them it times how often the function can be
 * called: the CPU begins a call before the last ones are done. It prints both,
 * 65.2 and 43.4 on an AMD EPYC (Zen 5).
 *
 * Other languages cannot use a header's inline code, so here is a function for
 * them: cc -O2 -shared -fPIC -o libfence.so fence.c -lcpucycles */
#include <stdio.h>
#include <stdlib.h>
#include <cpucycles.h>

#define LINKS 24
#define CALLS 50 /* in a row: many steps of the counter */
#define ROWS 1001

void fence(void);

void fence(void)
{
	cpucycles_fence();
}

/* Volatile: with link-time optimization the compiler knows what is global. */
volatile unsigned number = 3, power;

static void function(void)
{
	unsigned x = number;

	for (int i = 0; i < LINKS; i++)
		x *= x;
	power = x;
}

static void nothing(void)
{
}

static int ascending(const void *a, const void *b)
{
	const long long *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Per call, median. Volatile, or the compiler may leave out calls. */
static double cycles(void (*volatile timed)(void), int fenced)
{
	static long long row[ROWS];

	for (int i = 0; i < ROWS; i++) {
		fence();
		long long start = cpucycles();
		for (int call = 0; call < CALLS; call++) {
			if (fenced)
				fence();
			timed();
			if (fenced)
				fence();
		}
		fence();
		row[i] = cpucycles() - start;
	}
	qsort(row, ROWS, sizeof *row, ascending);
	return (double)row[ROWS / 2] / CALLS;
}

int main(void)
{
	cycles(function, 1); /* selects a counter, and warms up */
	printf("%d multiplications, %s cycles a call\n", LINKS,
	       cpucycles_kind());
	printf("with fences: %.1f\n", cycles(function, 1) - cycles(nothing, 1));
	printf("without: %.1f\n", cycles(function, 0) - cycles(nothing, 0));
	return 0;
}
