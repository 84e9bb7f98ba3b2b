/* SPDX-License-Identifier: 0BSD */
/* Counts the cycles of a loop: cc small.c -lcpucycles */
#include <stdio.h>
#include <cpucycles.h>

#define N 1000000

int main(void)
{
	/* volatile, so that the compiler leaves every addition where it is. */
	volatile unsigned sum = 0;
	long long start, cycles;
	unsigned i;

	/* The first call chooses a counter, which takes far longer than a
	 * count: do that before anything is timed. */
	cpucycles();

	start = cpucycles();
	for (i = 0; i < N; i++)
		sum += i;
	cycles = cpucycles() - start;

	/* The kind says what was counted: "core" and "calibrated" are cycles
	 * of the core, "reference" and "os" cycles of its nominal clock. */
	printf("%lld cycles (%s, %s), %.2f an iteration, for a sum of %u\n",
	       cycles, cpucycles_implementation(), cpucycles_kind(),
	       (double)cycles / N, sum);
	return 0;
}
