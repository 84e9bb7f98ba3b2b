/* SPDX-License-Identifier: 0BSD */
/* How true the counts are: the error of each usable counter, in percent,
 * against chains of known length: of crc32, 3 cycles a link, and of add, 1.
 * Where the host runs something on the other hardware thread of the core, a
 * link of 1 cycle now and then takes 2, so that the second chain then takes
 * more cycles than it has links, and a true count says so.
 *
 * The rate of a core may change from timing to timing, faster than anything
 * that measures it now and then can follow. For comparison, the lines "(clock,
 * one ratio)" are of a clock outside the core with the ratio that makes the
 * median of each block exact: what scatters there is the rate within a block.
 * A counter that follows the rate can be a little better than that, but not
 * where the changes are faster than its measurements. */
#include "bench.h"
#include "tools/known.h"

#define TIMINGS 2500
#define BLOCKS 12

static double v[TIMINGS], all[BLOCKS * TIMINGS], medians[BLOCKS];

static void time_block(long long (*count)(void), void (*work)(void),
		       double *out)
{
	long long t;
	int i;

	for (i = 0; i < TIMINGS; i++) {
		t = count();
		if (work != NULL)
			work();
		else
			known_nothing();
		out[i] = (double)(count() - t);
	}
}

static long long bare(void)
{
	return bench_bare();
}

/* Whether to divide each block by its own median, as said above. */
static void bench(const char *name, const char *kind, long long (*count)(void),
		  const struct known *work, int one_ratio)
{
	double empty, worst = 0, full, spread = 0, low, high;
	int b, i;

	time_block(count, NULL, v);
	empty = bench_percentile(v, TIMINGS, 50);
	for (b = 0; b < BLOCKS; b++) {
		time_block(count, work->run, v);
		full = one_ratio ? bench_percentile(v, TIMINGS, 50) - empty
				 : KNOWN_CYCLES;
		for (i = 0; i < TIMINGS; i++)
			v[i] = ((v[i] - empty) / full - 1) * 100;
		memcpy(all + b * TIMINGS, v, sizeof v);
		medians[b] = bench_percentile(v, TIMINGS, 50);
		if (medians[b] > worst || -medians[b] > worst)
			worst = medians[b] < 0 ? -medians[b] : medians[b];
		low = bench_percentile(v, TIMINGS, 10) - medians[b];
		high = bench_percentile(v, TIMINGS, 90) - medians[b];
		spread = -low > spread ? -low : spread;
		spread = high > spread ? high : spread;
	}
	printf("%-21s %-10s %-6s %+8.3f %+8.3f %+8.3f %8.3f %8.3f\n", name,
	       kind, work->name, bench_percentile(all, BLOCKS * TIMINGS, 50),
	       bench_percentile(all, BLOCKS * TIMINGS, 10),
	       bench_percentile(all, BLOCKS * TIMINGS, 90), worst, spread);
}

static long long selected_count(void)
{
	return cpucycles();
}

int main(void)
{
	const struct known *k;
	struct cpucycles_counter c;
	unsigned i;

	if (!known_usable()) {
		printf("The truth: no chain of known length on this CPU\n");
		return 0;
	}
	cpucycles();
	printf("The truth: error in percent over %d blocks of %d timings of "
	       "%d cycles\n",
	       BLOCKS, TIMINGS, KNOWN_CYCLES);
	printf("%-21s %-10s %-6s %8s %8s %8s %8s %8s\n", "counter", "kind",
	       "chain", "median", "10th", "90th", "worst", "widest");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		if (!c.usable || !strcmp(c.kind, "zero") ||
		    cpucycles_select(c.name) != 0)
			continue;
		bench_progress(c.name);
		for (k = known; k->run != NULL; k++)
			bench(c.name, c.kind, selected_count, k, 0);
	}
	for (k = known; k->run != NULL; k++)
		bench("(clock, one ratio)", "compare", bare, k, 1);
	bench_progress("");
	printf("worst: the largest median of a block; widest: the largest "
	       "distance of the 10th\nor 90th percentile of a block from its "
	       "median\n");
	return 0;
}
