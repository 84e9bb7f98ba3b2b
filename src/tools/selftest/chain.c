/* SPDX-License-Identifier: 0BSD */
/* The checks by code of known length: chains of instructions of known latency,
 * and a loop of as many instructions.
 *
 * On an emulated CPU a chain takes any time. So each is first compared with the
 * others, and one with itself run twice, by CLOCK_MONOTONIC, in which the
 * counter has no part. */
#include <config.h>
#include <math.h>
#include <stdlib.h>
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

#define TURNS 100000L /* in less time than passes between two interrupts */
#define LOOPS 9

/* The loop's instructions as counted, without those of the calls, and how many
 * there are a cycle. Interrupts add some, so of several counts the best, and
 * the ratio nearest to 1. */
static void chain_loop(long long right, long long *count, double *ratio)
{
	long long none, some, cycles[2], both[2];
	double r;
	int i;

	for (i = 0; i < LOOPS; i++) {
		none = -cpucycles_instructions();
		none += cpucycles_instructions();
		some = -cpucycles_instructions() - none;
		loop(TURNS);
		some += cpucycles_instructions();
		if (i == 0 || llabs(some - right) < llabs(*count - right))
			*count = some;
		cpucycles_pair(&cycles[0], &both[0]);
		loop(TURNS);
		cpucycles_pair(&cycles[1], &both[1]);
		r = (double)(both[1] - both[0]) /
		    (double)(cycles[1] - cycles[0]);
		if (i == 0 || fabs(r - 1) < fabs(*ratio - 1))
			*ratio = r;
	}
}

/* QEMU counts instructions and cycles by the host's clock. */
enum outcome chain_instructions(struct selftest *t)
{
	const long long right = LOOP_INSTRUCTIONS * TURNS,
			most = right / 10000 + 100;
	struct cpucycles_counter c;
	enum outcome outcome = OFF;
	long long count;
	double ratio;

	if (cpucycles_instructionscounter(&c, sizeof c) != 0)
		return say(t, SKIPPED, TOOL_NO_INSTRUCTIONS);
	if (!c.usable)
		return say(t, SKIPPED, "%s", tool_why(&c));
	if (LOOP_INSTRUCTIONS == 0)
		return say(t, SKIPPED, "no loop of known length for this CPU");
	chain_loop(right, &count, &ratio);
	if (llabs(count - right) <= most && ratio > 0)
		outcome = GOOD;
	else if (fabs(ratio - 1) < 0.001)
		outcome = SKIPPED;
	return say(t, outcome,
		   "%s counts %lld for %lld, tolerance %lld; %.2f a cycle%s",
		   c.name, count, right, most, ratio,
		   outcome == SKIPPED ? ", as an emulated CPU does" : "");
}
