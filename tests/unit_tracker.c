/* SPDX-License-Identifier: 0BSD */
/* The tracker of a core's rate, on random walks, beside the best filter: one
 * that knows how fast the rate walks. CASES measurements. */
#include <config.h>
#include "calibrated/constants.h"
#include "calibrated/tracker.h"
#include "cases.h"

#define SETTLES 200 /* measurements in which the walk is learnt */
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
	/* 1 MHz: the share alone would allow one in four seconds. */
	{.hz = 1000000,
	 .turns = 5000,
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

/* Errors of the ratio in 2^-20, squared, of all measurements after the first
 * ones; and what the best filter expects at the same measurements. */
struct errors {
	double tracker, best;
	double share;  /* of the time */
	double widest; /* seconds, from one measurement to the next */
	double learnt; /* the walk, on average */
};

static double clock_noise(const struct cpuc_calibration *s, double windows)
{
	const double clock = s->grain / (MEASUREMENT_GRAINS * windows);

	return clock * clock * (1 + OVERHEAD_NOISE / 16.) +
	       MEASUREMENT_NOISE * MEASUREMENT_NOISE;
}

static struct errors walk(const struct cpuc_calibration *s, double by,
			  double scatter)
{
	struct cpuc_tracker t = {.variance =
					 RATIO_UNKNOWN >> CPUC_VARIANCE_BITS};
	struct errors e = {0, 0, 0, 0, 0};
	double off = 0, known = RATIO_UNKNOWN, grown, noise, took = 0, all = 0;
	double seen;
	struct cpuc_measurement next;
	uint32_t gain, every;

	for (int i = 0; i < SETTLES + JUDGED; i++) {
		every = cpuc_tracker_every(&t, s);
		next = cpuc_tracker_next(&t, s, every, 16);
		grown = by * every * 1000 / (double)s->hz;
		off += root(grown) * normal();
		all += i < SETTLES ? 0 : every;
		if (e.widest < every / (double)s->hz)
			e.widest = every / (double)s->hz;
		took += i < SETTLES ? 0 : (double)next.length * s->window_ticks;
		noise = clock_noise(s, next.length) +
			scatter / next.length / next.length;
		seen = off + root(noise) * normal();
		gain = cpuc_tracker_update(&t, s, &next, (int32_t)seen);
		off -= seen * gain / (1 << 20);
		known = (known + grown) * noise / (known + grown + noise);
		if (i >= SETTLES) {
			e.tracker += off * off;
			e.best += known;
			e.learnt += (double)t.walk / JUDGED;
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
			 (double)(WALK_LEAST << rnd() % 15), 0);
		worse += e.tracker / e.best;
		share = e.share > share ? e.share : share;
	}
	ok(worse < 1.25 * (double)n,
	   "%ld random walks: the squared error is %.3f of the best filter's, "
	   "which knows them",
	   n, worse / (double)n);
	ok(share < 1.05 / MEASUREMENT_MOVING, "in %.3f%% of the time at most",
	   share * 100);
}

/* Still rates need no more than their share, or a measurement a second. */
static void still(void)
{
	struct errors e;

	for (size_t i = 0; i < COUNT(machines); i++) {
		const struct cpuc_calibration *s = &machines[i];
		const double one = MEASUREMENT_LONG * s->window_ticks;

		e = walk(s, 0, 0);
		/* But for rounding. */
		ok(e.widest <= 1 &&
			   (e.share < 1.5 / MEASUREMENT_STILL ||
			    e.share < (1 + 1e-9) * one / (double)s->hz),
		   "a still rate, machine %zu: %.3f%% of the time, the next "
		   "after %.3f s at most",
		   i, e.share * 100, e.widest);
	}
}

/* A Zen 5's walk by its clock. */
static void learnt(long n)
{
	double learnt = 0, by = 3e6;

	for (long i = 0; i < n; i++)
		learnt += walk(&machines[1], by, 0).learnt / (double)n;
	ok(learnt > 0.8 * by && learnt < 1.2 * by,
	   "the walk is learnt: %.3f of it on average", learnt / by);
}

/* Windows scatter by more than the clock's noise. */
static void scattered(long n)
{
	double worse = 0;
	struct errors e;

	for (long i = 0; i < n; i++) {
		e = walk(&machines[rnd() % 2],
			 (double)(WALK_LEAST << rnd() % 9),
			 (double)(UINT32_C(1) << (18 + rnd() % 5)));
		worse += e.tracker / e.best;
	}
	ok(worse < 1.6 * (double)n,
	   "%ld walks whose measurements scatter: the squared error is %.3f of "
	   "the "
	   "best filter's, which knows by how much",
	   n, worse / (double)n);
}

static void steps(void)
{
	const struct cpuc_calibration *s = machines;
	struct cpuc_tracker t = {.rarer = 40, .walk = WALK_LEAST};
	const uint32_t before = cpuc_tracker_every(&t, s);
	struct cpuc_measurement next;
	uint32_t after;

	cpuc_tracker_step(&t, s);
	after = cpuc_tracker_every(&t, s);
	next = cpuc_tracker_next(&t, s, after, 16);
	ok(t.walk == WALK_LEAST &&
		   t.variance == RATIO_UNKNOWN >> CPUC_VARIANCE_BITS &&
		   after < before / 2 &&
		   after < 1.5 * s->window_ticks * MEASUREMENT_STEPPED *
				   MEASUREMENT_MOVING,
	   "a step does not teach the walk, and the next measurement comes "
	   "soon");
	ok(!cpuc_tracker_far(&t, &next, 3 * 2048) &&
		   cpuc_tracker_far(&t, &next, 4 * 2048),
	   "far is more than 3.5 times what is expected");
	next.grown = RATIO_UNKNOWN;
	ok(!cpuc_tracker_far(&t, &next, 4 * 2048),
	   "and what the walk has added is expected");
}

/* Measurements of one noise, whose overhead is known badly, or after one that
 * was off to the same side. */
static void followed(void)
{
	const struct cpuc_calibration *s = &machines[1];
	struct cpuc_tracker t = {.walk = WALK_LEAST, .variance = 200}, same = t,
			    other = t;
	struct cpuc_measurement by[3];

	for (uint32_t i = 0; i < COUNT(by); i++)
		by[i] = cpuc_tracker_next(&t, s, s->hz / 1000, i);
	ok(by[1].clock_noise > by[0].clock_noise &&
		   by[0].clock_noise > by[2].clock_noise,
	   "an overhead by one window is noisier than none, by two less so");
	same.off = 1000;
	other.off = -1000;
	ok(cpuc_tracker_update(&same, s, by, 1000) >
		   cpuc_tracker_update(&other, s, by, 1000),
	   "what lags is followed further");
	ok(same.scatter <= t.scatter && other.scatter > t.scatter,
	   "and tells of no noise, as what turns round does");
}

/* A long measurement's scatter is that of a short one by the square of their
 * lengths: learnt as a short one's, expected as its own. */
static void long_ones(void)
{
	const struct cpuc_calibration *s = &machines[1];
	const int32_t off = 3000, longer = MEASUREMENT_LONG / MEASUREMENT_SHORT;
	struct cpuc_tracker t[2] = {{.walk = WALK_LEAST, .off = 3000},
				    {.walk = WALK_LEAST, .off = 3000}};
	struct cpuc_measurement next = {.clock_noise = 1, .after = 1};
	uint32_t scatter[2];

	for (int i = 0; i < 2; i++) {
		next.length = i ? MEASUREMENT_LONG : MEASUREMENT_SHORT;
		cpuc_tracker_update(&t[i], s, &next, -off);
		t[i].walk = WALK_LEAST;
		t[i].rarer = i ? 63 : 0;
		next = cpuc_tracker_next(&t[i], s, 1, 16);
		scatter[i] = next.scatter;
	}
	ok(next.length == MEASUREMENT_LONG && t[0].scatter > 0 &&
		   t[1].scatter > longer * longer * t[0].scatter &&
		   t[1].scatter < (longer + 1) * (longer + 1) * t[0].scatter &&
		   scatter[1] < 1.1 * scatter[0],
	   "a long measurement's scatter is of short ones %u, not %u, and is "
	   "expected to be %u",
	   t[1].scatter, t[0].scatter, (unsigned)scatter[1]);
}

/* A measurement that comes sooner than planned. */
static void sooner(void)
{
	const struct cpuc_calibration *s = &machines[1];
	struct cpuc_tracker t = {.walk = WALK_LEAST, .rarer = 10}, soon = t;
	const uint64_t every = cpuc_tracker_every(&t, s);
	const struct cpuc_measurement next[] = {
		cpuc_tracker_next(&t, s, every, 16),
		cpuc_tracker_next(&t, s, every / 16, 16)};

	cpuc_tracker_update(&t, s, &next[0], 10000);
	cpuc_tracker_update(&soon, s, &next[1], 10000);
	ok(t.walk > 2 * WALK_LEAST && soon.walk < 2 * t.walk,
	   "one that comes sooner tells no more of the walk: %u, %u",
	   (unsigned)t.walk, (unsigned)soon.walk);
}

/* A measurement after so many ticks, of a rate that walks as fast as can be:
 * nothing is known any more. */
static void long_ago(void)
{
	const struct cpuc_tracker t = {.walk = 1u << 25};
	unsigned bits, wrong = 0;

	for (bits = 33; bits < 64; bits++)
		wrong += cpuc_tracker_next(&t, &machines[1],
					   UINT64_C(1) << bits, 1)
				 .grown != UINT32_MAX;
	ok(wrong == 0, "after hours, or years, all may have changed");
}

/* What scatters beyond the clock's noise is mostly disturbed, and seems slower.
 */
static void disturbed(void)
{
	const struct cpuc_calibration *s = &machines[1];
	struct cpuc_tracker t = {.walk = WALK_LEAST, .variance = 200},
			    faster = t, slower = t;
	struct cpuc_measurement next = cpuc_tracker_next(&t, s, 1, 16);
	const uint32_t gain = cpuc_tracker_update(&faster, s, &next, 1000);

	ok(cpuc_tracker_update(&slower, s, &next, -1000) == gain,
	   "without scatter faster and slower are followed alike");
	t.scatter = 10000;
	next = cpuc_tracker_next(&t, s, 1, 16);
	ok(cpuc_tracker_far(&t, &next,
			    (uint32_t)(4 * root(next.clock_noise))) &&
		   !cpuc_tracker_far(&t, &next,
				     (uint32_t)(3 * root(next.clock_noise))) &&
		   next.scatter > 4 * next.clock_noise,
	   "far is measured again however much scatters");
	faster = slower = t;
	ok(cpuc_tracker_update(&slower, s, &next, -1000) <
		   cpuc_tracker_update(&faster, s, &next, 1000) / 2,
	   "where it scatters, a slower core is believed half as much");
}

int main(void)
{
	const long n = cases_begin(600000) / (SETTLES + JUDGED) + 1;

	cpuc_calibration.hz = machines[0].hz;
	walks(n);
	learnt(n / 4 + 1);
	scattered(n / 2 + 1);
	still();
	steps();
	long_ones();
	sooner();
	long_ago();
	followed();
	disturbed();
	return done_testing();
}
