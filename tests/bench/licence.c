/* SPDX-License-Identifier: 0BSD */
/* How true counts are where a core changes its rate for the code that it runs:
 * bursts of scalar and of wide code in turn, in pieces of 3 us. What a piece
 * counts, of the cycles that it is known to take; and the core's rate in it, by
 * the bare clock.
 *
 * The chains' cycles do not depend on the rate. But a core that changes its
 * rate halts for ten or twenty microseconds, or executes wide code more slowly:
 * of a burst's first wide pieces some truly take longer, and all that is called
 * known is what they take without that. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "bench.h"
#include "subject.h"
#include "../wide.h"

#define TABLE "licence"
#define RATES "licence-rates"
#define NS 3000000000LL /* for each length of bursts */
#define MOST 1000000    /* pieces of a kind */
#define EMPTY 1001
#define LONG 10 /* ticks a cycle: more are another thread's, or the host's */
#define PARTS 1000000 /* of 1, in which shares and rates are kept */

/* Of all pieces of one kind: what they count, of what is known, and cycles a
 * tick. */
static struct pieces {
	long long share[MOST], rate[MOST];
	double counted, cycles;
	int n;
} pieces[2]; /* scalar, wide */

struct timing {
	double counted, ticks, cycles;
};

static struct timing empty;

/* Of wide code, of scalar code, or of nothing. */
static struct timing time_piece(bool works, bool is_wide)
{
	long long c = cpucycles(), raw;
	double cycles = 0;

	cpucycles_fence();
	raw = bench_bare();
	if (works)
		cycles = wide_run(is_wide);
	else
		known_nothing();
	raw = bench_bare() - raw;
	cpucycles_fence();
	c = cpucycles() - c;
	return (struct timing){(double)c, (double)raw, cycles};
}

/* The means of what a timing of nothing counts, but for those that were
 * interrupted. */
static struct timing time_nothing(void)
{
	static long long counted[EMPTY], ticks[EMPTY];
	struct timing t;
	int i;

	for (i = 0; i < EMPTY; i++) {
		t = time_piece(false, false);
		counted[i] = (long long)t.counted;
		ticks[i] = (long long)t.ticks;
	}
	stats_sort(counted, EMPTY);
	stats_sort(ticks, EMPTY);
	return (struct timing){stats_iqm(counted, EMPTY),
			       stats_iqm(ticks, EMPTY), 0};
}

static void piece(struct pieces *p, bool is_wide)
{
	struct timing t = time_piece(true, is_wide);

	t.counted -= empty.counted;
	t.ticks -= empty.ticks;
	if (p->n == MOST || t.ticks <= 0 || t.ticks > t.cycles * LONG)
		return;
	p->counted += t.counted;
	p->cycles += t.cycles;
	p->share[p->n] = (long long)(t.counted / t.cycles * PARTS);
	p->rate[p->n++] = (long long)(t.cycles / t.ticks * PARTS);
}

static void bursts(long long ns, long long all)
{
	const long long end = bench_ns() + all;
	long long until;
	int kind;

	memset(pieces, 0, sizeof pieces);
	empty = time_nothing();
	for (kind = 0; bench_ns() < end; kind = !kind)
		for (until = bench_ns() + ns; bench_ns() < until;)
			piece(&pieces[kind], kind);
}

static void print(const char *table, const char *row, long long *v, int n)
{
	static const int part[] = {1, 10, 50, 90, 99};
	char column[8];
	size_t i;

	stats_sort(v, n);
	for (i = 0; i < sizeof part / sizeof *part; i++) {
		snprintf(column, sizeof column, "p%d", part[i]);
		bench_value(table, row, column, "%.3f",
			    (double)stats_quantile(v, n, part[i], 100) / PARTS);
	}
}

static void print_bursts(int ms)
{
	const char *const kind[] = {"scalar", wide.name};
	char row[64];
	int i;

	for (i = 0; i < 2; i++) {
		if (pieces[i].n == 0)
			continue;
		snprintf(row, sizeof row, "%s, %d ms", kind[i], ms);
		bench_value(TABLE, row, "mean", "%.3f",
			    pieces[i].counted / pieces[i].cycles);
		print(TABLE, row, pieces[i].share, pieces[i].n);
		print(RATES, row, pieces[i].rate, pieces[i].n);
	}
}

int main(void)
{
	static const int ms[] = {1, 10};
	const char *why_not = wide_begin();
	size_t i;

	if (why_not != NULL)
		bench_skip(why_not);
	for (i = 0; i < sizeof ms / sizeof *ms; i++) {
		bursts(ms[i] * 1000000LL, bench_rounds(1000) * (NS / 1000));
		print_bursts(ms[i]);
	}
	return 0;
}
