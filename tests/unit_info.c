/* SPDX-License-Identifier: 0BSD */
/* The parts of cpucycles-info that compute: bins, scales, bounds, gaps. */
#include <config.h>
#include <limits.h>
#include <stdio.h>
#include "cpucycles.h"
#include "tap.h"
#include "tools/common/tool.h"

#define tool_ns pretended_ns
#define tool_clock_ns pretended_clock
#define tool_thread_clock() CLOCK_THREAD_CPUTIME_ID
#define cpucycles_interruptions gapped_interruptions
#define cpucycles_persecond() 1000000000LL
#define cpucycles_counterbyname(name, c, size) (*(c) = counter)
static struct cpucycles_counter counter;
static long long pretended_ns(void);
static long long gapped_interruptions(void);
static long long pretended_clock(clockid_t clock);
/* In loops. */
static long iterations;
#define __asm__           \
	if (++iterations) \
	__asm__
#include "../src/tools/info/calls.c"
#undef __asm__
#include "../src/tools/info/plot.c"

static const struct row {
	const char *what;
	long long sorted[6];
	int n;
	long long first, width;
	int bins;
} rows[] = {
	{"one value", {41}, 1, 40, 1, 3},
	{"single cycles, in rows", {1, 39, 41, 41, 41, 42}, 6, 0, 5, 10},
	{"0 begins a bin, below it too", {-51, -1, 0, 0, 3}, 5, -60, 5, 14},
	{"in twos", {0, 0, 0, 0, 20, 20}, 6, 0, 2, 12},
	{"in thousands", {0, 0, 0, 0, 10000, 10000}, 6, 0, 1000, 12},
};

static void check_histogram(void)
{
	static const long long wild[] = {LLONG_MIN / 4, 0, 1, LLONG_MAX / 4};
	static long long tail[1000];
	const struct row *r;
	struct histogram h;
	int i;

	for (r = rows; r < rows + COUNT(rows); r++) {
		plot_sort(&h, r->sorted, r->n);
		ok(h.first == r->first && h.width == r->width &&
			   h.bins == r->bins,
		   "%s: %d bins of %lld from %lld", r->what, h.bins, h.width,
		   h.first);
	}
	plot_sort(&h, wild, 4);
	ok(h.bins <= BINS_MAX, "differences of any size");
	for (i = 0; i < 1000; i++)
		tail[i] = i < 995 ? 100 + i / 200 : 1000000 + i;
	tail[0] = 7;
	plot_sort(&h, tail, 1000);
	ok(h.count[0] == 1 && h.count[h.bins + 1] == 5 && h.width == 1 &&
		   h.most == 200 && h.count[102 - h.first] == 200,
	   "what an interrupt hit is outside");
}

#define READING 20  /* ns that a reading of a clock or a count takes */
#define ITERATION 4 /* and one of a loop; the shortest loop: */
#define LOOP (8192 * ITERATION)
#define PAUSE 100000  /* and some counts, which stand still meanwhile: */
#define PAUSES 50     /* each so many, and those after longer intervals */
#define TELLING 3000  /* of preemptions */
#define AWAKE 9000000 /* for so long at a time, if it naps, */
#define NAP 200000    /* and then sleeps for this */

static bool naps, counts_on; /* in a pause, too */
static long long preemptions;
static double pace = 1; /* cycles per ns awake */
static long long now, slept;

static void pass(int ns)
{
	long long awake = now - slept;

	now += ns;
	if (naps && (awake + ns) / AWAKE > awake / AWAKE) {
		now += NAP;
		slept += NAP;
		preemptions++;
	}
}

static long long pretended_clock(clockid_t clock)
{
	pass(READING);
	return clock == CLOCK_MONOTONIC ? now : now - slept;
}

/* A clock in steps of `grain`, that is read in a loop; after so many readings
 * comes a cache miss, ten times as seldom an interrupt, or another thread. */
#define MISS 500
#define INTERRUPT 5000
#define THREAD 2000000
static int miss, grain, readings;

static long long gapped_ns(void)
{
	now += READING;
	if (++readings % miss == 0)
		now += MISS;
	if (readings % (10 * miss) == 0)
		now += INTERRUPT;
	if (readings % (1000 * miss) == 0) {
		now += THREAD;
		preemptions++;
	}
	return now / grain * grain;
}

static long long pretended_ns(void)
{
	if (miss > 0)
		return gapped_ns();
	pass((int)iterations * ITERATION);
	iterations = 0;
	return pretended_clock(CLOCK_MONOTONIC);
}

static long long pausing(void)
{
	static long long paused, before;
	static int calls;
	long long tick = counter.scaling > 1 ? (long long)counter.scaling : 1;

	pass(READING);
	if (++calls % PAUSES == 0 || now - before > 5 * LOOP) {
		pass(PAUSE);
		paused += counts_on ? 0 : PAUSE;
	}
	before = now;
	return (long long)((double)(now - slept - paused) * pace) / tick * tick;
}

static void check_observed(const char *what)
{
	struct observed o[OBSERVED];
	double tick = counter.scaling, span, widest;
	int i, n = calls_observe(o), good = 0;

	for (i = 0; i < n; i++) {
		span = (double)o[i].loops * ITERATION;
		widest = (span + tick) / (span - tick) *
			 (1 + 6.0 * READING / LOOP) * (1 + 2.1 * UNCERTAIN);
		if (o[i].low <= 1e9 && o[i].high >= 1e9 &&
		    o[i].high <= o[i].low * widest)
			good++;
		else
			diag("%.0f...%.0f", o[i].low, o[i].high);
	}
	ok(good == OBSERVED,
	   "a count that pauses, %s: its rate is within %d bounds, which are "
	   "no wider than readings and steps make them",
	   what, good);
}

static void check_bounds(void)
{
	cpucycles = pausing;
	naps = true;
	check_observed("in a thread that sleeps");
	naps = false;
	counter.scaling = 3000;
	check_observed("in ticks of 3000");
	counter = (struct cpucycles_counter){.kind_id = CPUCYCLES_CALIBRATED};
	pace = 0.9985;
	check_observed("calibrated, and 0.15% too slow");
	pace = 1.0015;
	check_observed("or too fast");
}

static void check_share(void)
{
	const double part = PAUSE / (PAUSE + TELLING + PAUSES * 2.0 * READING),
		     awake = (double)AWAKE / (AWAKE + NAP);
	double share;

	cpucycles = pausing;
	pace = 1;
	naps = true;
	share = calls_share();
	ok(bounded(part * awake * 0.9, share, part * awake, "of the time"),
	   "the share of pauses, not of what other threads took: %g", share);
	naps = false;
	counts_on = true;
	ok(calls_share() == 0, "nor of what is counted");
	counts_on = false;
	preemptions = -1;
	ok(calls_share() < 0, "it is unknown where preemptions are");
	preemptions = 0;
}

/* It takes longer than the shortest gap. */
static long long gapped_interruptions(void)
{
	now += TELLING;
	return preemptions;
}

static void check_gaps(void)
{
	struct gaps both[GAPS_KINDS];
	struct gaps *other = &both[GAPS_OTHER], *threads = &both[GAPS_THREADS];
	long long ns[] = {5000, 1000, 3000}, begin;

	ok(calls_sum(ns, 3, 1000000).longest == 5000, "the longest of three");
	miss = 1000;
	grain = 1;
	calls_gaps(both);
	ok(other->median == MISS + INTERRUPT &&
		   other->longest < (MISS + INTERRUPT) * 1.1 &&
		   bounded(4200, other->persecond, 4300, "a second") &&
		   bounded(0.023, other->share, 0.024, "of the time"),
	   "interrupts are gaps, cache misses are none");
	ok(threads->median == MISS + INTERRUPT + THREAD &&
		   threads->longest < THREAD * 1.1,
	   "other threads are told apart: %g ns", threads->median);
	grain = 1500;
	calls_gaps(both);
	ok(other->share == 0 && other->longest < 0 && threads->median > THREAD,
	   "nor are the steps of a clock");
	miss = 1;
	grain = 1;
	begin = now;
	calls_gaps(both);
	ok(now - begin < LISTEN_NS, "it listens for a limited number");
}

int main(void)
{
	check_bounds();
	check_share();
	check_histogram();
	check_gaps();
	return done_testing();
}
