/* SPDX-License-Identifier: 0BSD */
/* The check by instructions of known latency.
 *
 * On an emulated CPU they take any time. So each chain is first compared with
 * the others, and one with itself run twice, by CLOCK_MONOTONIC, in which the
 * counter has no part. */
#include <config.h>
#include "../common/known.h"
#include "../common/stats.h"
#include "../common/tool.h"
#include "chain.h"
#include "counting.h"

#define TIMINGS 1001
#define TOLERANCE 6 /* percent, of the chain that is disturbed least */
#define TRUST 8     /* percent: a busy SMT sibling costs a chain up to 4% */

/* Rows of timings: of nothing, of the first chain twice, of each chain. */
enum { NOTHING, TWICE, ONCE, ROWS = ONCE + sizeof known / sizeof *known - 1 };

/* Medians; those of nothing are subtracted from the others. */
struct chain_lengths {
	long long count[ROWS + 1], ns[ROWS + 1]; /* some CPUs have no chain */
	int timings;
};

static void chain_run(int row)
{
	const struct known *k = &known[row < ONCE ? 0 : row - ONCE];
	unsigned long turns = KNOWN_CYCLES / k->turn;

	if (row == NOTHING)
		known_nothing();
	else
		k->loop(row == TWICE ? 2 * turns : turns);
}

static void chain_measure(const struct selftest *t, struct chain_lengths *l)
{
	static long long count[ROWS][TIMINGS], ns[ROWS][TIMINGS];
	long long end = tool_ns() + t->ms * 1000000LL;
	int n, row;

	/* They take turns, so that all see the same machine. */
	for (n = 0; n < TIMINGS && (n < 21 || tool_ns() < end); n++)
		for (row = 0; row < ROWS; row++) {
			ns[row][n] = -tool_ns();
			count[row][n] = -cpucycles();
			chain_run(row);
			count[row][n] += cpucycles();
			ns[row][n] += tool_ns();
		}
	for (row = 0; row < ROWS; row++) {
		l->count[row] = stats_median(count[row], n);
		l->count[row] -= row == NOTHING ? 0 : l->count[NOTHING];
		l->ns[row] = stats_median(ns[row], n);
		l->ns[row] -= row == NOTHING ? 0 : l->ns[NOTHING];
	}
	l->timings = n;
}

/* The row of the chain that is disturbed least; -1 if chains of as many cycles
 * do not take as long as each other. */
static int chain_best(const struct chain_lengths *l)
{
	double percent = 100 / (double)l->ns[ONCE];
	int row, best = ONCE;

	for (row = ONCE; row < ROWS; row++) {
		if (!selftest_near((double)l->ns[row] * percent, TRUST))
			return -1;
		if (l->ns[row] < l->ns[best])
			best = row;
	}
	percent *= (double)l->ns[TWICE] / 2;
	return selftest_near(percent, TRUST) ? best : -1;
}

enum outcome chain_check(struct selftest *t)
{
	struct chain_lengths l;
	double percent;
	int best;

	if (!known_usable())
		return say(t, SKIPPED, "no chain of known length for this CPU");
	chain_measure(t, &l);
	best = chain_best(&l);
	if (best < 0)
		return say(t, SKIPPED,
			   "chains of %d cycles differ in time, as on "
			   "an emulated CPU",
			   KNOWN_CYCLES);
	percent = (double)l.count[best] * 100 / KNOWN_CYCLES;
	if (!selftest_follows(t))
		return say(t, SKIPPED,
			   "a counter of kind %s need not count the "
			   "core's cycles: it counts %.3f for each",
			   t->counter.kind, percent / 100);
	return say(t, selftest_near(percent, TOLERANCE) ? GOOD : OFF,
		   "a chain of %d cycles (%s) counts as %lld, %.2f%% (median "
		   "of %d, tolerance %d%%), at %lld MHz",
		   KNOWN_CYCLES, known[best - ONCE].name, l.count[best],
		   percent, l.timings, TOLERANCE,
		   KNOWN_CYCLES * 1000LL / l.ns[best]);
}
