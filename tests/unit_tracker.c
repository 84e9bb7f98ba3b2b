/* SPDX-License-Identifier: 0BSD */
/* The tracker of a core's rate, on random walks, beside the best filter: one
 * that knows how fast the rate walks. CASES looks. */
#include <config.h>
#include "calibrated/constants.h"
#include "calibrated/tracker.h"
#include "cases.h"

#define SETTLES 200 /* looks in which the walk is learnt */
#define JUDGED 400  /* and after them */

static const struct cpuc_calibration machines[] = {
	/* 2.6 GHz in steps of 1 and 26 ticks, and 24 MHz. */
	{.hz = 2600000000,
	 .turns = 20,
	 .window_ticks = 6500,
	 .grain = (UINT32_C(1) << 20) / 6500},
	{.hz = 2600000000,
	 .turns = 28,
	 .window_ticks = 9360,
	 .grain = (UINT32_C(26) << 20) / 9360},
	{.hz = 24000000,
	 .turns = 150,
	 .window_ticks = 360,
	 .grain = (UINT32_C(1) << 20) / 360},
};

static double root(double x)
{
	double r = x > 1 ? x : 1;

	for (int i = 0; i < 60; i++)
		r = (r + x / r) / 2;
	return r;
}

/* Of variance 1. */
static double normal(void)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)(rnd() >> 11) / 9007199254740992.;
	return sum;
}

/* Errors of the ratio in 2^-20, squared, of all looks after the first ones; and
 * what the best filter expects at the same looks. */
struct errors {
	double tracker, best;
	double share;  /* of the time */
	double learnt; /* the walk, on average */
	double noises; /* so many times the noise it adds between looks */
};

static struct errors walk(const struct cpuc_calibration *s, double by)
{
	struct cpuc_tracker t = {.every = LOOK_SOON, .variance = LOOK_FIRST};
	struct errors e = {0, 0, 0, 0, 0};
	double off = 0, known = LOOK_FIRST, grown, seen, took = 0, all = 0;
	struct cpuc_look look;
	uint32_t gain;

	for (int i = 0; i < SETTLES + JUDGED; i++) {
		look = cpuc_tracker_look(&t, s);
		grown = by * t.every * 1000 / (double)s->hz;
		off += root(grown) * normal();
		all += t.every;
		took += (double)look.turns / s->turns * s->window_ticks;
		seen = off + root(look.noise) * normal();
		gain = cpuc_tracker_update(&t, s, &look,
					   (uint32_t)(seen < 0 ? -seen : seen));
		off -= seen * gain / (1 << 20);
		known = (known + grown) * look.noise /
			(known + grown + look.noise);
		if (i >= SETTLES) {
			e.tracker += off * off;
			e.best += known;
			e.learnt += (double)t.walk / JUDGED;
			e.noises += grown / look.noise / JUDGED;
		}
	}
	e.share = took / all;
	return e;
}

/* From a walk that is hardly more than the least to 0.5% in a millisecond,
 * which is more than was seen anywhere. */
static void walks(long n)
{
	double worse = 0, share = 0;
	struct errors e;

	for (long i = 0; i < n; i++) {
		e = walk(&machines[rnd() % 3],
			 (double)(WALK_LEAST << rnd() % 15));
		worse += e.tracker / e.best;
		share = e.share > share ? e.share : share;
	}
	ok(worse < 1.25 * (double)n,
	   "%ld random walks: the squared error is %.3f of the best filter's, "
	   "which knows them",
	   n, worse / (double)n);
	ok(share < 1.01 / LOOK_MOVING, "in %.3f%% of the time at most",
	   share * 100);
}

/* Still rates need no more than their share. */
static void still(void)
{
	for (size_t i = 0; i < COUNT(machines); i++) {
		double share = walk(&machines[i], 0).share;

		ok(share < 1.5 / LOOK_STILL,
		   "a still rate, machine %zu: %.3f%% of the time", i,
		   share * 100);
	}
}

/* A Zen 5's walk by its clock: the best distance of looks is known. */
static void planned(long n)
{
	double learnt = 0, noises = 0, by = 3e6;
	struct errors e;

	for (long i = 0; i < n; i++) {
		e = walk(&machines[1], by);
		learnt += e.learnt / (double)n;
		noises += e.noises / (double)n;
	}
	ok(learnt > 0.85 * by && learnt < 1.15 * by,
	   "the walk is learnt: %.3f of it on average", learnt / by);
	ok(noises > WALK_NOISE / 2. && noises < WALK_NOISE * 3,
	   "from look to look it adds %.2f times their noise", noises);
}

static void steps(void)
{
	const struct cpuc_calibration *s = machines;
	struct cpuc_tracker t = {.every = UINT32_MAX, .walk = WALK_LEAST};
	struct cpuc_look look;

	cpuc_tracker_step(&t, s, LOOK_FIRST);
	look = cpuc_tracker_look(&t, s);
	ok(t.walk == WALK_LEAST && t.variance == LOOK_FIRST &&
		   t.every <= s->window_ticks * LOOK_LONGEST * LOOK_MOVING,
	   "a step does not teach the walk, and the next look comes soon");
	ok(!cpuc_tracker_far(&t, &look, 2 * 2048) &&
		   cpuc_tracker_far(&t, &look, 4 * 2048),
	   "far is more than thrice what is expected");
}

int main(void)
{
	const long n = cases_begin(600000) / (SETTLES + JUDGED) + 1;

	cpuc_calibration.hz = machines[0].hz;
	walks(n);
	planned(n / 4 + 1);
	still();
	steps();
	return done_testing();
}
