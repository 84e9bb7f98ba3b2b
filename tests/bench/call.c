/* SPDX-License-Identifier: 0BSD */
/* What a call costs, for every usable counter, against the bare instruction
 * inline in a loop of its own. The two alternate, so that both see the same
 * machine; each ratio is that of the medians of many short rounds. */
#include "bench.h"

#define CALLS 10000
#define ROUNDS 201

static double time_bare(void)
{
	double t = bench_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		(void)bench_bare();
	return (bench_ns() - t) / CALLS;
}

static double time_calls(void)
{
	double t = bench_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		(void)cpucycles();
	return (bench_ns() - t) / CALLS;
}

static void bench(const struct cpucycles_counter *c)
{
	static double bare[ROUNDS], calls[ROUNDS];
	double b, n;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		bare[i] = time_bare();
		calls[i] = time_calls();
	}
	b = bench_percentile(bare, ROUNDS, 50);
	n = bench_percentile(calls, ROUNDS, 50);
	printf("%-24s %-10s %9.2f %9.2f %7.3f\n", c->name, c->kind, n, b,
	       n / b);
}

int main(void)
{
	struct cpucycles_counter c;
	char selected[64] = "";
	unsigned i;

	strncat(selected, cpucycles_implementation(), sizeof selected - 1);
	printf("A call, median of %d rounds of %d calls; bare: inline %s\n",
	       ROUNDS, CALLS, BENCH_BARE);
	printf("%-24s %-10s %9s %9s %7s\n", "counter", "kind", "ns", "bare ns",
	       "ratio");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && cpucycles_select(c.name) == 0) {
			bench_progress(c.name);
			bench(&c);
		}
	bench_progress("");
	printf("selected: %s\n", selected);
	return 0;
}
