/* SPDX-License-Identifier: 0BSD */
/* How true the counts are: the error of each usable counter, in percent,
 * against chains of known length: of crc32, 3 cycles a link, and of add, 1.
 * Where the host runs something on the other hardware thread of the core, a
 * link of 1 cycle now and then takes 2, so that the second chain then takes
 * more cycles than it has links, and a true count says so.
 *
 * The rate of a core may change from timing to timing, faster than anything
 * that measures it now and then can follow. For comparison, the rows "(clock,
 * one ratio)" are of a clock outside the core with the ratio that makes the
 * median of each block exact: what scatters there is the rate within a block.
 * A counter that follows the rate can be a little better than that, but not
 * where the changes are faster than its measurements. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "subject.h"
#include "tools/common/known.h"

#define TABLE "truth"
#define TIMINGS 2500
#define BLOCKS 12

static long long v[TIMINGS], all[BLOCKS * TIMINGS];

/* work: NULL for nothing. */
static void time_block(long long (**count)(void), const struct known *work,
		       long long *out)
{
	unsigned long turns = work ? KNOWN_CYCLES / work->turn : 0;
	long long t;
	int i, n = bench_rounds(TIMINGS - 1);

	for (i = 0; i < n; i++) {
		t = (*count)();
		if (work != NULL)
			work->loop(turns);
		else
			known_nothing();
		out[i] = (*count)() - t;
	}
}

static long long bare(void)
{
	return bench_bare();
}

static void print(const char *name, const char *kind, const char *chain,
		  const char *column, long long millionths)
{
	double percent = (double)millionths / 1e4;
	char row[192];

	snprintf(row, sizeof row, "%s, %s", name, chain);
	bench_value(TABLE, row, "kind", "%s", kind);
	if (column[0] == 'w') /* a distance */
		bench_value(TABLE, row, column, "%.3f", percent);
	else
		bench_value(TABLE, row, column, "%+.3f", percent);
}

/* Whether to divide each block by its own median, as said above. */
static void bench(const char *name, const char *kind, long long (**count)(void),
		  const struct known *work, bool one_ratio)
{
	long long empty, full = KNOWN_CYCLES, median, worst = 0, spread = 0;
	long long low, high;
	int b, i, n = bench_rounds(TIMINGS - 1);

	bench_progress("the truth:", name);
	time_block(count, NULL, v);
	empty = bench_median(v, n);
	for (b = 0; b < BLOCKS; b++) {
		time_block(count, work, v);
		stats_sort(v, n);
		if (one_ratio)
			full = stats_quantile(v, n, 1, 2) - empty;
		for (i = 0; i < n; i++)
			v[i] = (v[i] - empty - full) * 1000000 / full;
		memcpy(all + b * n, v, (size_t)n * sizeof *v);
		median = stats_quantile(v, n, 1, 2);
		low = median - stats_quantile(v, n, 1, 10);
		high = stats_quantile(v, n, 9, 10) - median;
		worst = llabs(median) > worst ? llabs(median) : worst;
		spread = low > spread ? low : spread;
		spread = high > spread ? high : spread;
	}
	stats_sort(all, BLOCKS * n);
	print(name, kind, work->name, "10th",
	      stats_quantile(all, BLOCKS * n, 1, 10));
	print(name, kind, work->name, "median",
	      stats_quantile(all, BLOCKS * n, 1, 2));
	print(name, kind, work->name, "90th",
	      stats_quantile(all, BLOCKS * n, 9, 10));
	print(name, kind, work->name, "worst", worst);
	print(name, kind, work->name, "widest", spread);
}

int main(void)
{
	long long (*clock)(void) = bare;
	const struct known *k;
	struct cpucycles_counter c;
	struct subject *p;
	unsigned i = 0;

	bench_title(TABLE,
		    "3. The truth: error in percent against chains of %d "
		    "cycles",
		    KNOWN_CYCLES);
	if (!known_usable()) {
		bench_note(TABLE, "No chain of known length on this CPU");
		return 0;
	}
	bench_note(TABLE,
		   "%d blocks of %d timings; worst: the largest median of a "
		   "block; widest: the largest distance of the 10th or 90th "
		   "percentile of a block from its median; one ratio: the bare "
		   "clock with the ratio that suits each block best, for "
		   "comparison",
		   BLOCKS, bench_rounds(TIMINGS - 1));
	cpucycles();
	while (subject_next(&i, &c))
		for (k = known; k->loop != NULL; k++)
			bench(c.name, c.kind, subject_own.count, k, false);
	for (p = subject_peers(); p->count; p++)
		for (k = known; k->loop != NULL; k++)
			bench(p->name, "peer", p->count, k, false);
	for (k = known; k->loop != NULL; k++)
		bench("(clock, one ratio)", "compare", &clock, k, true);
	bench_progress("", "");
	return 0;
}
