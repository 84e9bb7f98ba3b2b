/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio: a mean of measurements, and when the next one is due.
 *
 * A measurement is one long window. A glimpse, which is hundreds of times
 * shorter, shows only that the rate may have stepped; windows confirm it.
 * Glimpses are rare while the rate is steady and frequent while it changes:
 * some cores step by 2.5% 500 times a second for a while, and are steady for
 * seconds; others change their rate for the instructions that they execute.
 *
 * The mean goes half the way to each measurement: a longer memory would gain
 * little, as the rate itself changes meanwhile. If a second measurement
 * confirms one that is off, the rate has changed, and the mean follows at once.
 */
#include <config.h>
#include <stdlib.h>
#include "../rate/clock.h"
#include "ratio.h"
#include "constants.h"

/* The ratio on which the highest of n windows agree; 0: they do not. Sorts v.
 * Whatever disturbs a window makes it longer, and its ratio lower: two are
 * enough to show a higher rate. */
static uint64_t ratio_agreed(const struct cpuc_ratio *r, uint64_t *v,
			     unsigned n)
{
	unsigned need = STEP_SLOWER;

	cpuc_sort(v, n);
	if (v[n - 1] > r->mean)
		need = STEP_FASTER;
	if (cpuc_apart(v[n - need], v[n - 1]) > STEP_PAIR)
		return 0;
	return v[n - need] + (v[n - 1] - v[n - need]) / 2;
}

/* A window at about this ratio; on a much faster core it was too short. */
static uint64_t ratio_window_about(struct cpuc_overhead *o, uint64_t *about)
{
	const uint32_t turns = cpuc_calibration.turns;
	uint64_t ratio = cpuc_window(o, turns, *about);

	if (ratio > *about + *about / STEP_SHORT)
		ratio = cpuc_window(o, turns, *about = ratio);
	return ratio;
}

/* At the end of a long interval, `worked` ticks, many windows are made, so that
 * not all are disturbed: for a share of it, and a lower ratio must last. If
 * they disagree, the highest but two holds: better too high than too low. */
static uint64_t ratio_windows_long(const struct cpuc_ratio *r, uint64_t worked)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const uint32_t share = (uint32_t)cpuc_least(
		worked / SHARE_MOVING / s->span, STEP_WINDOWS);
	const uint64_t lasts = cpuc_least(worked / STEP_LASTS, COUNT_RAMP);
	const uint64_t begun = (uint64_t)s->clock->tick();
	struct cpuc_overhead o = {2 * r->glimpse, WINDOW_OVERHEADS};
	uint64_t v[STEP_WINDOWS] = {0}, about = r->mean, ratio, agreed;
	unsigned n, most = STEP_WINDOWS + share + (uint32_t)lasts / s->span;

	for (n = 1; n <= most; n++) {
		ratio = ratio_window_about(&o, &about);
		/* In place of the lowest, if its overhead is known. */
		v[0] = o.known > 1 ? ratio : 0;
		agreed = ratio_agreed(r, v, STEP_WINDOWS);
		if (agreed != 0 && n > share &&
		    (agreed > r->mean ||
		     (uint64_t)s->clock->tick() - begun >= lasts))
			return agreed;
	}
	return v[STEP_WINDOWS - STEP_SLOWER];
}

/* The ratio by a few windows, 0 if they disagree. One at the ratio in use is
 * enough for that. */
static uint64_t ratio_windows(const struct cpuc_ratio *r)
{
	struct cpuc_overhead o = {2 * r->glimpse, 1};
	uint64_t v[STEP_SLOWER] = {0}, about = r->mean, agreed;

	for (int i = 0; i < STEP_SLOWER; i++) {
		v[0] = ratio_window_about(&o, &about);
		if (cpuc_apart(v[0], r->mean) <= STEP_LEAST)
			return r->mean;
		agreed = ratio_agreed(r, v, STEP_SLOWER);
		if (agreed != 0)
			return agreed;
	}
	return 0;
}

/* Whether the ratio has stepped. */
static bool ratio_confirm(struct cpuc_ratio *r, uint64_t worked)
{
	uint64_t ratio = worked >= COUNT_RAMP ? ratio_windows_long(r, worked)
					      : ratio_windows(r);

	if (ratio == 0 || cpuc_apart(ratio, r->mean) <= STEP_LEAST)
		return false;
	r->mean = ratio;
	r->stepped_ago = 0;
	return true;
}

/* A small step shows in the mean of several glimpses. There, one that was
 * disturbed counts as little as one that just was not. */
bool cpuc_ratio_stands(struct cpuc_ratio *r)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const int32_t near = cpuc_glimpse_part(
		s, r->mean, STEP_LEAST + s->glimpse_grain / 2);
	const int32_t by = cpuc_glimpse(s, r->mean) - r->glimpse;
	const int32_t most = by > 0 ? 2 * near : -2 * near;

	r->glimpses +=
		(abs(by) > 2 * near ? most : by) - r->glimpses / GLIMPSE_MEAN;
	return abs(by) <= near &&
	       abs(r->glimpses) / GLIMPSE_MEAN <=
		       cpuc_glimpse_part(s, r->mean, STEP_PAIR);
}

/* Whether the ratio has moved. */
static bool ratio_measure(struct cpuc_ratio *r, uint64_t worked)
{
	const uint32_t turns =
		cpuc_calibration.turns *
		(r->known ? MEASUREMENT_LENGTH : MEASUREMENT_FIRST);
	uint64_t first = cpuc_window(&r->overhead, turns, r->mean);
	uint64_t ratio = first;
	uint32_t off = cpuc_apart(ratio, r->mean);
	bool moved = false;

	/* Of what is hardly a step windows may show nothing: they are shorter.
	 */
	if (off > STEP_LEAST) {
		if (ratio_confirm(r, worked))
			return true;
		if (off > 2 * STEP_LEAST)
			return false;
	}
	/* More than noise, and than a step or two that the clock misses. */
	if (off > MEASUREMENT_NOISE) {
		ratio = cpuc_window(&r->overhead, turns, r->mean);
		off = cpuc_apart(ratio, first);
		if (off > STEP_LEAST)
			return false;
		moved = off < cpuc_apart(ratio, r->mean);
		if (moved)
			r->mean = first;
	}
	r->mean += (uint64_t)((int64_t)(ratio - r->mean) / (r->known ? 2 : 1));
	r->known = true;
	return moved;
}

/* The most ticks to the next measurement. */
static uint32_t ratio_measure_every(bool moving)
{
	uint64_t ticks = (uint64_t)cpuc_calibration.span * MEASUREMENT_LENGTH *
			 (moving ? MEASUREMENT_MOVING : MEASUREMENT_STILL);

	return (uint32_t)cpuc_least(ticks, cpuc_calibration.hz);
}

/* Soon if the ratio moved, then half as long again each time, up to a limit. */
static void ratio_next(struct cpuc_ratio *r, bool moved)
{
	uint32_t every = r->measure_every + r->measure_every / 2;

	r->measure_in = r->measure_every =
		(uint32_t)cpuc_least(every, ratio_measure_every(moved));
}

static void ratio_next_glimpse(struct cpuc_ratio *r)
{
	uint64_t cost = cpuc_calibration.glimpse_cost;
	uint64_t ticks = r->stepped_ago / GLIMPSE_SINCE_STEP;

	ticks = ticks > cost * GLIMPSE_MOVING ? ticks : cost * GLIMPSE_MOVING;
	r->glimpse_every = (uint32_t)cpuc_least(ticks, cost * GLIMPSE_STILL);
	r->glimpse_in = (uint32_t)cpuc_least(r->glimpse_every, r->measure_in);
}

static void ratio_pass(struct cpuc_ratio *r, uint64_t passed)
{
	uint32_t ticks = (uint32_t)cpuc_least(passed, UINT32_MAX / 2);

	r->stepped_ago += r->stepped_ago < UINT32_MAX / 2 ? ticks : 0;
	r->measure_in -= (uint32_t)cpuc_least(r->measure_in, ticks);
	r->glimpse_in -= (uint32_t)cpuc_least(r->glimpse_in, ticks);
}

void cpuc_ratio_first(struct cpuc_ratio *r, uint64_t t)
{
	r->mean = cpuc_calibration.ratio;
	r->glimpse = cpuc_calibration.glimpse_overhead;
	r->measure_every = MEASUREMENT_SOON;
	/* The thread that calibrated has just measured. */
	if (t - cpuc_calibration.tick < cpuc_calibration.span) {
		r->measure_in = MEASUREMENT_SOON;
		ratio_next_glimpse(r);
	}
}

bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed, uint64_t worked)
{
	bool stands, moved;

	ratio_pass(r, passed);
	if (r->glimpse_in > 0)
		return false;
	stands = cpuc_ratio_stands(r);
	/* One that is disturbed may look as if all were well, or not. */
	if (worked >= COUNT_RAMP)
		stands &= cpuc_ratio_stands(r);
	else if (CPUC_GLIMPSE_GUARDED && !stands)
		stands = cpuc_ratio_stands(r);
	moved = !stands && ratio_confirm(r, worked);
	if (moved) {
		ratio_next(r, true);
	} else if (r->measure_in == 0) {
		moved = ratio_measure(r, worked);
		ratio_next(r, moved);
		stands = false;
	} else if (!stands) {
		r->measure_in = (uint32_t)cpuc_least(r->measure_in,
						     ratio_measure_every(true));
	}
	if (!stands) {
		/* This core's glimpses may take another time. */
		r->glimpse += moved ? 0 : r->glimpses / GLIMPSE_MEAN / 4;
		r->glimpses = 0;
	}
	ratio_next_glimpse(r);
	return !stands;
}

void cpuc_ratio_migrated(struct cpuc_ratio *r)
{
	/* What is known of overheads weighs no more than one window. */
	r->overhead.known = r->overhead.known > 0;
	r->glimpse_in = 0;
}
