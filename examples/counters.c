/* SPDX-License-Identifier: 0BSD */
/* Lists the counters of this architecture, the most preferred first:
 * cc counters.c -lcpucycles && ./a.out
 *
 * It prints a line for each: what it counts and how finely, or why it does not
 * work here and, below, what would help. */
#include <stdio.h>
#include <string.h>
#include <cpucycles.h>

int main(void)
{
	const char *used = cpucycles_implementation();
	struct cpucycles_counter c;
	unsigned i;

	printf("  %-22s %-10s %6s %9s %12s %4s\n", "name", "kind", "step",
	       "precision", "cycles/tick", "bits");
	/* The size is that of the struct this program was built with. The call
	 * fails for the first index past the end. */
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		printf("%c %-22s %-10s ", strcmp(c.name, used) ? ' ' : '*',
		       c.name, c.kind);
		if (c.usable)
			printf("%6lld %9lld %12.6f %4u\n", c.step, c.precision,
			       c.scaling, c.bits);
		else
			printf("%s\n", c.reason);
		if (c.hint[0] != '\0')
			printf("%36s%s\n", "", c.hint);
	}
	printf("* in use; step and precision are in cycles, lower is better\n");
	return 0;
}
