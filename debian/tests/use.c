/* SPDX-License-Identifier: 0BSD */
/* A user's program: counts until the count has moved. */
#include <cpucycles.h>
#include <stdio.h>

int main(void)
{
	long long start = cpucycles(), count, calls = 1000000;

	do
		count = cpucycles();
	while (count == start && calls-- > 0);
	printf("%s counts: %s\n", cpucycles_implementation(),
	       count > start ? "yes" : "no");
	return count <= start;
}
