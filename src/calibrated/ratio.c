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
 * little, as the rate changes meanwhile. If a second measurement confirms one
 * that is off, the rate has changed, and the mean follows at once. */
#include <config.h>
#include <stdlib.h>
#include "../rate/clock.h"
#include "ratio.h"
#include "constants.h"

/* The ratios of the highest windows so far, from v[1] up; v[0] is the next. */
#define KEPT (STEP_SLOWER + 1)

/* The ratio on which the highest of them agree; 0: none. Sorts v. Disturbed
 * windows have a lower one: two are enough to show a higher rate. */
static uint64_t ratio_agreed(const struct cpuc_ratio *r, uint64_t *v)
{
	unsigned need = STEP_SLOWER;

	cpuc_sort(v, KEPT);
	if (v[KEPT - STEP_FASTER] > r->mean)
		need = STEP_FASTER;
	if (cpuc_apart(v[KEPT - need], v[KEPT - 1]) > STEP_PAIR)
		return 0;
	return v[KEPT - need] + (v[KEPT - 1] - v[KEPT - need]) / 2;
}

/* A window at about this ratio; on a much faster core it was too short. */
static uint64_t ratio_window_near(struct cpuc_overhead *o, uint64_t *near_ratio)
{
	const uint32_t turns = cpuc_calibration.turns;
	uint64_t ratio = cpuc_window(o, turns, *near_ratio);

	if (ratio > *near_ratio + *near_ratio / STEP_SHORT)
		ratio = cpuc_window(o, turns, *near_ratio = ratio);
	return ratio;
}

/* The same at the end of a long interval, `worked` ticks: by many windows, as a
 * lower ratio must last. If they disagree, the highest but two holds. */
static uint64_t ratio_windows_long(const struct cpuc_ratio *r, uint64_t worked)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const uint32_t share = (uint32_t)cpuc_min(
		worked / SHARE_MOVING / s->window_ticks, STEP_WINDOWS);
	const uint64_t lasts = cpuc_min(worked / STEP_LASTS, COUNT_RAMP);
	const uint64_t begun = (uint64_t)s->clock->tick();
	struct cpuc_overhead o = {WINDOW_GLIMPSES * r->glimpse_overhead,
				  WINDOW_OVERHEADS};
	uint64_t v[KEPT] = {0}, near_ratio = r->mean, ratio, agreed;
	unsigned n,
		most = STEP_WINDOWS + share + (uint32_t)lasts / s->window_ticks;

	for (n = 1; n <= most; n++) {
		ratio = ratio_window_near(&o, &near_ratio);
		/* In place of the lowest, if its overhead is known. */
		v[0] = o.known > 1 ? ratio : 0;
		agreed = ratio_agreed(r, v);
		if (agreed != 0 && n > share &&
		    (agreed > r->mean ||
		     (uint64_t)s->clock->tick() - begun >= lasts))
			return agreed;
	}
	return v[KEPT - STEP_SLOWER];
}

/* By a few windows, or by one at the ratio in use; 0: they disagree. */
static uint64_t ratio_windows(const struct cpuc_ratio *r)
{
	struct cpuc_overhead o = {WINDOW_GLIMPSES * r->glimpse_overhead, 1};
	uint64_t v[KEPT] = {0}, near_ratio = r->mean, agreed;

	for (int i = 0; i < STEP_SLOWER; i++) {
		v[0] = ratio_window_near(&o, &near_ratio);
		if (cpuc_apart(v[0], r->mean) <= STEP_LEAST)
			return r->mean;
		agreed = ratio_agreed(r, v);
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

/* A small step shows in the mean of glimpses; none weighs more than `near`. */
bool cpuc_ratio_glimpse(struct cpuc_ratio *r)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const int32_t near = cpuc_glimpse_part(
		s, r->mean, STEP_LEAST + s->glimpse_grain / 2);
	int32_t by = cpuc_glimpse_overhead(s, r->mean) - r->glimpse_overhead;
	const bool far = abs(by) > near;

	if (far)
		by = by > near ? near : -near;
	r->glimpse_drift += by - r->glimpse_drift / GLIMPSE_MEAN;
	return !far && abs(r->glimpse_drift) / GLIMPSE_MEAN <=
			       cpuc_glimpse_part(s, r->mean, STEP_PAIR);
}

/* Whether the ratio has stepped. */
static bool ratio_measure(struct cpuc_ratio *r, uint64_t worked)
{
	const uint32_t turns =
		cpuc_calibration.turns *
		(r->known ? MEASUREMENT_LENGTH : MEASUREMENT_FIRST);
	uint64_t first = cpuc_window(&r->overhead, turns, r->mean);
	uint64_t ratio = first;
	uint32_t off = cpuc_apart(ratio, r->mean);
	bool stepped = false;

	/* Of a small step windows may show nothing: they are shorter. */
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
		stepped = off < cpuc_apart(ratio, r->mean);
		if (stepped)
			r->mean = first;
	}
	r->mean += (uint64_t)((int64_t)(ratio - r->mean) / 2);
	r->known = true;
	return stepped;
}

/* The most ticks to the next measurement. */
static uint32_t ratio_measure_every(bool moving)
{
	uint64_t ticks = (uint64_t)cpuc_calibration.window_ticks *
			 MEASUREMENT_LENGTH *
			 (moving ? MEASUREMENT_MOVING : MEASUREMENT_STILL);

	return (uint32_t)cpuc_min(ticks, cpuc_calibration.hz);
}

/* Soon after a step, then half as long again each time, up to a limit. */
static void ratio_next(struct cpuc_ratio *r, bool stepped)
{
	uint32_t every = r->measure_every + r->measure_every / 2;

	r->measure_in = r->measure_every =
		(uint32_t)cpuc_min(every, ratio_measure_every(stepped));
}

static void ratio_next_glimpse(struct cpuc_ratio *r)
{
	uint64_t cost = cpuc_calibration.glimpse_cost;
	uint64_t ticks = r->stepped_ago / GLIMPSE_SINCE_STEP;

	ticks = ticks > cost * GLIMPSE_MOVING ? ticks : cost * GLIMPSE_MOVING;
	r->glimpse_every = (uint32_t)cpuc_min(ticks, cost * GLIMPSE_STILL);
	r->glimpse_in = r->glimpse_every;
}

static void ratio_pass(struct cpuc_ratio *r, uint64_t passed)
{
	r->stepped_ago =
		(uint32_t)cpuc_min(r->stepped_ago + passed, UINT32_MAX);
	r->measure_in -= (uint32_t)cpuc_min(r->measure_in, passed);
	r->glimpse_in -= (uint32_t)cpuc_min(r->glimpse_in, passed);
}

void cpuc_ratio_first(struct cpuc_ratio *r, uint64_t t)
{
	r->mean = cpuc_calibration.ratio;
	r->glimpse_overhead = cpuc_calibration.glimpse_overhead;
	r->measure_every = MEASUREMENT_SOON;
	/* The thread that calibrated has just measured. */
	if (t - cpuc_calibration.measured_at < cpuc_calibration.window_ticks)
		r->measure_in = MEASUREMENT_SOON;
}

bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed, uint64_t worked)
{
	bool stands, stepped;

	ratio_pass(r, passed);
	if (r->glimpse_in > 0 && r->measure_in > 0)
		return false;
	stands = cpuc_ratio_glimpse(r);
	/* A disturbed glimpse may err either way. */
	if (worked >= COUNT_RAMP)
		stands &= cpuc_ratio_glimpse(r);
	else if (CPUC_GLIMPSE_GUARDED && !stands)
		stands = cpuc_ratio_glimpse(r);
	stepped = !stands && ratio_confirm(r, worked);
	if (stepped) {
		ratio_next(r, true);
	} else if (r->measure_in == 0) {
		stepped = ratio_measure(r, worked);
		ratio_next(r, stepped);
		stands = false;
	} else if (!stands) {
		r->measure_in = (uint32_t)cpuc_min(r->measure_in,
						   ratio_measure_every(true));
	}
	if (!stands) {
		/* This core's glimpses may take another time. */
		if (!stepped)
			r->glimpse_overhead += r->glimpse_drift / GLIMPSE_LEARN;
		r->glimpse_drift = 0;
	}
	ratio_next_glimpse(r);
	return !stands;
}
