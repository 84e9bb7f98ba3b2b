/* SPDX-License-Identifier: 0BSD */
/* A program of either library: prints its version, and fails if it does not
 * count. */
#include <stdio.h>
#include <cpucycles.h>

int main(void)
{
	long long (*first)(void) = cpucycles;
	long long before, after, calls = 1000000;

	cpucycles_tracesetup();
	before = cpucycles();
	do
		after = cpucycles();
	while (after == before && calls-- > 0);
	printf("version %s\n", cpucycles_version());
	/* A counter is where the program looks for it. */
	return after <= before || cpucycles == first ||
	       cpucycles_persecond() < 1000000 ||
	       *cpucycles_implementation() == '\0';
}
