/* SPDX-License-Identifier: 0BSD */
/* A program of either library: checks that it counts, and prints the library's
 * version. */
#include <stdio.h>
#include <cpucycles.h>

/* What is wrong with the library, or NULL. */
static const char *mistake(void)
{
	long long (*first)(void) = cpucycles;
	long long before, after, calls = 1000000;

	cpucycles_tracesetup();
	before = cpucycles();
	do
		after = cpucycles();
	while (after == before && calls-- > 0);
	if (after <= before)
		return "the count stands still";
	/* The library has put a counter where the program looks for it. */
	if (cpucycles == first)
		return "every call selects";
	if (cpucycles_persecond() < 1000000)
		return "there are too few cycles in a second";
	if (*cpucycles_implementation() == '\0')
		return "the counter has no name";
	return NULL;
}

int main(void)
{
	const char *wrong = mistake();

	if (wrong != NULL)
		fprintf(stderr, "%s\n", wrong);
	else
		printf("version %s\n", cpucycles_version());
	return wrong != NULL;
}
