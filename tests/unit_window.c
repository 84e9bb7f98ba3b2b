/* SPDX-License-Identifier: 0BSD */
/* Windows that others interrupt, whether ratios or a count agree, and which of
 * the thread's clocks are believed. */
#include <config.h>
#define cpuc_os_clock_thread pretended_thread
#include "../src/calibrated/calibrate.c"
#include "../src/calibrated/thread_clock.c"
#include "calibrated/window.h"
#include "tap.h"

#define ONE (UINT64_C(1) << CPUC_RATIO_BITS)
#define TURNS 100
#define SHORT_RUN 10000 /* of a short run */

static uint64_t late; /* the end of the short run */

static void window(uint32_t turns, uint64_t stamp[3])
{
	(void)turns;
	stamp[0] = 1000000;
	stamp[1] = 1000000 + SHORT_RUN + late;
	stamp[2] = 1000000 + 9 * SHORT_RUN + late;
}

static const struct cpuc_chain chain = {window, NULL, SHORT_RUN / TURNS, "one"};

/* What a window takes beyond its links is not learnt from a short run that took
 * longer than the long one, nor from others that were interrupted. */
static void overheads(void)
{
	struct cpuc_overhead o = {0, 8};
	int all = 1;

	ok(cpuc_run_window(&o, TURNS, ONE) == ONE && o.windows == 9,
	   "a window shows the ratio");
	o = (struct cpuc_overhead){100, 8};
	late = 8 * SHORT_RUN;
	ok(cpuc_run_window(&o, TURNS, ONE) == 0 && o.windows == 8 &&
		   o.cycles == 100,
	   "a short run that is longer than the long one shows nothing");
	o.cycles = 0;
	for (int i = 0; i < 100; i++) {
		late = i % 4 < 2 ? 0 : SHORT_RUN;
		cpuc_run_window(&o, TURNS, ONE);
		all &= o.windows > 0 && o.cycles == 0;
	}
	ok(all, "two windows of four are disturbed: the overhead stays known");
}

/* By 2^-10, however great they are. */
static void distances(void)
{
	uint64_t a, v[] = {3000, 1, 7};
	int all = 1;

	for (a = 1 << 10; a <= UINT64_C(1) << 62; a *= 2)
		all &= cpuc_apart(a + a / 1024, a) == 1024 &&
		       cpuc_apart(a - a / 1024, a) == 1024;
	ok(all, "how far ratios are apart");
	ok(cpuc_middle(v, 3, 1, 0) == 7, "the median, in any order");
	ok(cpuc_apart(3 * ONE, ONE) == 1 << 20 && cpuc_apart(ONE, 1) == 1 << 20,
	   "no further than by all of one");
}

static uint64_t now, step, read_ns; /* ns */
static uint64_t behind; /* the thread moves to a core whose clock is so much */
static double rate;

/* The thread's clock stood still for so many ns while an interrupt was handled,
 * just before its second reading. */
static uint64_t interrupt, lost;
static unsigned reads, ticks;

static long long tick(void)
{
	if (++ticks > 100000000)
		exit(!ok(0, "a clock is read for ever"));
	now += 10;
	return (long long)(now * 5 / 2);
}

uint64_t pretended_thread(uint64_t hz)
{
	now += read_ns;
	now -= ++reads == 1 ? behind : 0;
	lost += reads == 2 ? interrupt : 0;
	return (uint64_t)((double)((now - lost) / step * step) * rate *
			  (double)hz / 1e9);
}

/* One that advances as the ticks do is believed; others answer, too. */
static void thread_clocks(void)
{
	static const struct {
		const char *what;
		uint64_t step, interrupt;
		double rate;
		bool right;
	} rows[] = {
		{"a clock that advances as the ticks do", 1, 0, 1, true},
		{"one that an interrupt stops", 1, 5000, 1, true},
		{"steps of 4 ms", 4000000, 0, 1, false},
		{"twice the rate", 1, 0, 2, false},
		{"one that stands still", UINT64_MAX, 0, 1, false},
	};
	int n, believed;

	for (size_t i = 0; i < COUNT(rows); i++) {
		step = rows[i].step;
		interrupt = rows[i].interrupt;
		rate = rows[i].rate;
		for (believed = n = 0; n < 3000; n++) {
			now += 12345;
			read_ns = 100 + (unsigned)n % 3 * 400;
			reads = 0;
			believed += cpuc_thread_clock_agrees(tick, 2500000000);
		}
		ok(believed == (rows[i].right ? n : 0),
		   "%s: believed %d times of %d", rows[i].what, believed, n);
	}
	step = 1;
	rate = 1;
	behind = 1000;
	reads = 0;
	ok(cpuc_thread_clock_agrees(tick, 2500000000),
	   "a core whose clock is behind: only that try is lost");
	behind = 0 - UINT64_C(60000000000);
	reads = 0;
	ok(cpuc_thread_clock_agrees(tick, 2500000000),
	   "stopped for a minute, or on a core so far ahead: none is awaited");
	behind = 0;
}

/* In steps of 24. The thread moves to a core whose clock is 29 behind. */
static long long stepping(void)
{
	static long long steps;

	steps++;
	return steps * 24 - (steps >= 50 ? 29 : 0);
}

static void grain(void)
{
	static const struct cpuc_clock clock_of = {.tick = stepping};
	uint64_t resolution;

	cpuc_clock_grain(&clock_of, &resolution);
	ok(resolution == 24,
	   "one whose resolution is measured then: steps of %u",
	   (unsigned)resolution);
}

/* By a core of 4 GHz. */
static void ticking_glimpse(uint32_t turns, uint64_t stamp[2])
{
	stamp[0] = (uint64_t)tick();
	now += 8 * turns;
	stamp[1] = (uint64_t)tick();
}

static void ticking_window(uint32_t turns, uint64_t stamp[3])
{
	ticking_glimpse(turns, stamp);
	now += CPUC_LONG_RUN * 8 * turns;
	stamp[2] = (uint64_t)tick();
}

static void calibrated(void)
{
	static const struct cpuc_chain ticking = {ticking_window,
						  ticking_glimpse, 32, "one"};
	static const struct cpuc_chain_ops chains = {.chain = &ticking,
						     .nchains = 1};
	static struct cpuc_clock clock_of = {
		.tick = tick, .chains = &chains, .hz = 2500000000};
	static const struct cpuc_counter counter = {.kind = CPUC_CALIBRATED,
						    .clock = &clock_of};
	struct cpuc_slot slot = {.counter = &counter};

	step = 1;
	rate = 1;
	ok(cpuc_calibrate(&slot) == 0 && cpuc_calibration.thread_clock &&
		   cpuc_calibrate(&slot) == 0,
	   "a calibration finds out, and there is but one");
}

int main(void)
{
	cpuc_calibration = (struct cpuc_calibration){.chain = &chain,
						     .hz = 1000000000,
						     .ratio = ONE,
						     .turns = TURNS,
						     .glimpse_turns = TURNS};
	overheads();
	distances();
	now = 1000000000;
	thread_clocks();
	grain();
	calibrated();
	return done_testing();
}
