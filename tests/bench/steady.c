/* SPDX-License-Identifier: 0BSD */
/* How steady the counts are: the distribution of what is measured for an empty
 * interval and for chains of 100, 1000 and 100000 cycles, the cost of the two
 * calls and of the fences around a chain included. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "subject.h"
#include "tools/common/known.h"

#define TABLE "steady"
#define TIMINGS 4000
#define TIMINGS_LONG 1000

static long long v[TIMINGS + 1];

static void time_all(long long (**count)(void), const struct known *work,
		     unsigned long turns, int n)
{
	long long t;
	int i;

	for (i = 0; i < n; i++) {
		t = (*count)();
		if (turns > 0)
			work->loop(turns);
		v[i] = (*count)() - t;
	}
}

static void print(const char *row, const char *column, long long value)
{
	bench_value(TABLE, row, column, "%lld", value);
}

/* A chain that can take so many cycles; NULL: none here, or 0 cycles. */
static const struct known *dividing(unsigned long cycles)
{
	const struct known *k = known;

	if (cycles == 0 || !known_usable())
		return NULL;
	while (k->loop != NULL && cycles % k->turn != 0)
		k++;
	return k->loop != NULL ? k : NULL;
}

static void bench(const char *name, long long (**count)(void))
{
	static const unsigned long cycles[] = {0, 100, 1000, 100000};
	const struct known *work;
	char row[192];
	unsigned long turns;
	unsigned i;
	int n;

	bench_progress("steadiness:", name);
	for (i = 0; i < sizeof cycles / sizeof *cycles; i++) {
		n = bench_rounds(cycles[i] > 1000 ? TIMINGS_LONG : TIMINGS);
		work = dividing(cycles[i]);
		if (work == NULL && cycles[i] > 0)
			continue;
		turns = work ? cycles[i] / work->turn : 0;
		/* The first ones bring the code in. */
		time_all(count, work, turns, n / 10);
		time_all(count, work, turns, n);
		stats_sort(v, n);
		snprintf(row, sizeof row, "%s, %lu", name, cycles[i]);
		print(row, "min", v[0]);
		print(row, "1st quartile", stats_quantile(v, n, 1, 4));
		print(row, "median", stats_quantile(v, n, 1, 2));
		print(row, "3rd quartile", stats_quantile(v, n, 3, 4));
		bench_value(TABLE, row, "iqm", "%.2f", stats_iqm(v, n));
		print(row, "99th percentile", stats_quantile(v, n, 99, 100));
	}
}

int main(void)
{
	struct cpucycles_counter c;
	struct subject *p;
	unsigned i = 0;

	bench_title(TABLE,
		    "4. Steadiness: cycles counted for an empty interval "
		    "(0) and for chains of 100, 1000 and 100000 cycles");
	bench_note(TABLE,
		   "%d timings each, %d of the longest; with the cost of the "
		   "calls, and of the fences at a chain's ends",
		   bench_rounds(TIMINGS), bench_rounds(TIMINGS_LONG));
	cpucycles();
	while (subject_next(&i, &c))
		bench(c.name, subject_own.count);
	for (p = subject_peers(); p->count; p++)
		bench(p->name, p->count);
	bench_progress("", "");
	return 0;
}
