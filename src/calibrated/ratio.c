/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio, and when it is measured next.
 *
 * A measurement is one window: tracker.c says how long it is, when it is due,
 * and how far the ratio follows it. A glimpse, which is many times shorter,
 * shows only that the rate may have stepped; windows confirm it. Glimpses are
 * rare while the rate is steady and frequent while it steps: some cores do so
 * by 2.5% 500 times a second for a while, and are steady for seconds; others
 * change their rate for the instructions that they execute. */
#include <config.h>
#include <stdlib.h>
#include "../arithmetic.h"
#include "../rate/clock.h"
#include "constants.h"
#include "ratio.h"

/* The ratios of the highest windows so far, from v[1] up; v[0] is the next. */
#define KEPT (STEP_SLOWER + 1)

/* The ratio on which the highest of them agree; 0: none. Sorts v. Disturbed
 * windows have a lower one: two are enough to show a higher rate, if it is far
 * beyond their scatter. */
static uint64_t ratio_agreed(const struct cpuc_ratio *r, uint64_t *v)
{
	const uint64_t *second = &v[KEPT - STEP_FASTER];
	unsigned need = STEP_SLOWER;
	uint32_t off;

	cpuc_sort(v, KEPT);
	off = cpuc_apart(*second, r->estimate) / SCATTER_SURE;
	if (*second > r->estimate && !cpuc_tracker_scattered(&r->tracker, off))
		need = STEP_FASTER;
	if (cpuc_apart(v[KEPT - need], v[KEPT - 1]) > STEP_PAIR)
		return 0;
	return v[KEPT - need] + (v[KEPT - 1] - v[KEPT - need]) / 2;
}

/* A window at about this ratio; on a much faster core it was too short. */
static uint64_t ratio_window_near(struct cpuc_overhead *o, uint64_t *near_ratio)
{
	const uint32_t turns = cpuc_calibration.turns;
	uint64_t ratio = cpuc_run_window(o, turns, *near_ratio);

	if (ratio > *near_ratio + *near_ratio / STEP_SHORT)
		ratio = cpuc_run_window(o, turns, *near_ratio = ratio);
	return ratio;
}

/* The ratio now, by a few windows, or by one at the ratio in use; 0: they
 * disagree. At the end of a long interval, of `worked` ticks, by many, as a
 * lower ratio must last; if these disagree, the highest but two holds. */
static uint64_t ratio_windows(const struct cpuc_ratio *r, uint64_t worked)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const uint64_t begun = (uint64_t)s->clock->tick();
	const bool many = worked >= COUNT_RAMP;
	struct cpuc_overhead o = {WINDOW_GLIMPSES * r->glimpse_overhead,
				  many ? WINDOW_OVERHEADS : 1};
	uint64_t v[KEPT] = {0}, near_ratio = r->estimate, ratio, agreed,
		 lasts = 0;
	uint32_t n, least = 0, most = STEP_SLOWER;

	if (many) {
		lasts = cpuc_min(worked / STEP_LASTS, COUNT_RAMP);
		least = (uint32_t)cpuc_min(
			worked / SHARE_MOVING / s->window_ticks, STEP_WINDOWS);
		most = STEP_WINDOWS + least + (uint32_t)lasts / s->window_ticks;
	}
	for (n = 1; n <= most; n++) {
		ratio = ratio_window_near(&o, &near_ratio);
		if (!many && cpuc_apart(ratio, r->estimate) <= STEP_LEAST)
			return r->estimate;
		/* In place of the lowest, if its overhead is known. */
		v[0] = !many || o.windows > 1 ? ratio : 0;
		agreed = ratio_agreed(r, v);
		if (agreed != 0 && n > least &&
		    (agreed > r->estimate ||
		     (uint64_t)s->clock->tick() - begun >= lasts))
			return agreed;
	}
	return many ? v[KEPT - STEP_SLOWER] : 0;
}

/* Runs windows: whether the ratio has stepped, and if so, takes theirs. */
static bool ratio_confirm(struct cpuc_ratio *r, uint64_t worked)
{
	const uint64_t ratio = ratio_windows(r, worked);
	const uint32_t off = cpuc_apart(ratio, r->estimate);

	if (ratio == 0 || off <= STEP_LEAST ||
	    cpuc_tracker_scattered(&r->tracker, off))
		return false;
	r->estimate = ratio;
	r->stepped_ago = 0;
	return true;
}

/* A small step shows in the running mean of glimpses, glimpse_drift; none
 * weighs more than `near`. */
bool cpuc_ratio_glimpse(struct cpuc_ratio *r)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const int32_t near = cpuc_glimpse_part(
		s, r->estimate, STEP_LEAST + s->glimpse_grain / 2);
	int32_t by = cpuc_run_glimpse(s, r->estimate) - r->glimpse_overhead;
	const bool far = abs(by) > near;

	if (far)
		by = by > near ? near : -near;
	r->glimpse_drift += by - r->glimpse_drift / GLIMPSE_MEAN;
	return !far && abs(r->glimpse_drift) / GLIMPSE_MEAN <=
			       cpuc_glimpse_part(s, r->estimate, STEP_PAIR);
}

#define OVERHEAD_BITS 5
#define OVERHEAD_WINDOWS ((1 << OVERHEAD_BITS) - 1)
_Static_assert(WINDOW_OVERHEADS <= OVERHEAD_WINDOWS, "they have no room");

/* The overhead of measurements of this length. It is kept with the number of
 * windows in the last bits; that of the first one, which has a length of its
 * own, is not. */
static struct cpuc_overhead ratio_overhead(const struct cpuc_ratio *r,
					   uint32_t length)
{
	const int32_t kept = r->overhead[length == MEASUREMENT_LONG];

	if (length == MEASUREMENT_FIRST)
		return (struct cpuc_overhead){0, 0};
	return (struct cpuc_overhead){kept >> OVERHEAD_BITS,
				      kept & OVERHEAD_WINDOWS};
}

/* The ratio by one window, `length` times as long as the calibration's. */
static uint64_t ratio_run(struct cpuc_ratio *r, uint32_t length)
{
	struct cpuc_overhead o = ratio_overhead(r, length);
	const uint64_t ratio = cpuc_run_window(
		&o, cpuc_calibration.turns * length, r->estimate);

	if (length != MEASUREMENT_FIRST)
		r->overhead[length == MEASUREMENT_LONG] =
			o.cycles * (OVERHEAD_WINDOWS + 1) + o.windows;
	return ratio;
}

/* By one measurement, by the plan `after` ticks after the latest one, or two
 * where the first is far off: then the rate has changed, if they agree. */
static enum cpuc_ratio_seen ratio_measure(struct cpuc_ratio *r, uint64_t after,
					  uint64_t worked)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const uint32_t length = cpuc_tracker_length(&r->tracker, s);
	const struct cpuc_measurement next = cpuc_tracker_next(
		&r->tracker, s, after, ratio_overhead(r, length).windows);
	uint64_t first = ratio_run(r, length), ratio = first;
	uint32_t off = cpuc_apart(ratio, r->estimate), gain;
	bool agree = false;

	/* What a walk explains is no step, but a disturbance may seem a slower
	 * core. Of a small step windows may show nothing: they are shorter. A
	 * faster one is followed where they scatter too much to show a step. */
	if (off > STEP_LEAST && (ratio < r->estimate ||
				 cpuc_tracker_far(&r->tracker, &next, off))) {
		if (ratio_confirm(r, worked))
			return CPUC_RATIO_STEPPED;
		if (off > 2 * STEP_LEAST &&
		    (ratio < r->estimate ||
		     !cpuc_tracker_scattered(&r->tracker, off)))
			return CPUC_RATIO_MEASURED;
	}
	if (cpuc_tracker_far(&r->tracker, &next, off)) {
		ratio = ratio_run(r, length);
		off = cpuc_apart(ratio, r->estimate);
		if (cpuc_apart(ratio, first) > STEP_LEAST)
			return CPUC_RATIO_MEASURED;
		agree = cpuc_apart(ratio, first) < off;
	}
	gain = cpuc_tracker_update(&r->tracker, s, &next,
				   ratio < r->estimate ? -(int32_t)off
						       : (int32_t)off);
	if (agree)
		r->estimate = first / 2 + ratio / 2;
	else
		r->estimate += (uint64_t)((int64_t)(ratio - r->estimate) /
					  1024 * gain / 1024);
	return CPUC_RATIO_MEASURED;
}

/* Rarer where measurements are close. */
uint32_t cpuc_ratio_glimpse_every(const struct cpuc_ratio *r)
{
	const uint64_t cost = cpuc_calibration.glimpse_cost;
	const uint64_t least = cpuc_tracker_walks(&r->tracker)
				       ? cost * GLIMPSE_WALKING
				       : cost * GLIMPSE_MOVING;
	const uint64_t ticks = r->stepped_ago / GLIMPSE_SINCE_STEP;

	return (uint32_t)cpuc_min(ticks > least ? ticks : least,
				  cost * GLIMPSE_STILL);
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
	r->estimate = cpuc_calibration.ratio;
	r->glimpse_overhead = cpuc_calibration.glimpse_overhead;
	r->tracker.variance = RATIO_UNKNOWN >> CPUC_VARIANCE_BITS;
	/* The thread that calibrated has just measured. */
	if (t - cpuc_calibration.measured_at < cpuc_calibration.window_ticks)
		r->measure_in = MEASUREMENT_SOON((uint32_t)cpuc_calibration.hz);
}

void cpuc_ratio_moved(struct cpuc_ratio *r)
{
	/* Known overheads weigh no more than one window. */
	for (size_t i = 0; i < sizeof r->overhead / sizeof *r->overhead; i++)
		if ((r->overhead[i] & OVERHEAD_WINDOWS) > 1)
			r->overhead[i] -=
				(r->overhead[i] & OVERHEAD_WINDOWS) - 1;
	r->tracker.variance = RATIO_UNKNOWN >> CPUC_VARIANCE_BITS;
	r->glimpse_in = 0;
}

/* A disturbed glimpse may err either way, so at the end of a long interval two
 * must show the ratio; where all are made in the guard, and so are rare, one of
 * two. */
static bool ratio_glimpses(struct cpuc_ratio *r, uint64_t worked)
{
	const bool stands = cpuc_ratio_glimpse(r);

	if (worked >= COUNT_RAMP)
		return cpuc_ratio_glimpse(r) && stands;
	return stands || (CPUC_GLIMPSE_GUARDED && cpuc_ratio_glimpse(r));
}

/* When the next measurement and the next glimpse are due, after this. */
static void ratio_plan(struct cpuc_ratio *r, enum cpuc_ratio_seen seen)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const uint64_t soon = (uint64_t)s->window_ticks * MEASUREMENT_SHORT *
			      MEASUREMENT_MOVING;

	if (seen == CPUC_RATIO_UNCLEAR)
		r->measure_in = (uint32_t)cpuc_min(r->measure_in, soon);
	else if (seen != CPUC_RATIO_STANDS)
		r->measure_in = cpuc_tracker_every(&r->tracker, s);
	r->glimpse_in = cpuc_ratio_glimpse_every(r);
	if (seen == CPUC_RATIO_STANDS)
		return;
	/* This core's glimpses may take another time. */
	if (seen != CPUC_RATIO_STEPPED)
		r->glimpse_overhead += r->glimpse_drift / GLIMPSE_LEARN;
	r->glimpse_drift = 0;
}

enum cpuc_ratio_seen cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed,
				       uint64_t worked)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const uint64_t late = cpuc_sub_sat(passed, r->measure_in);
	enum cpuc_ratio_seen seen = CPUC_RATIO_STANDS;

	ratio_pass(r, passed);
	if (r->glimpse_in > 0 && r->measure_in > 0)
		return CPUC_RATIO_STANDS;
	if (!ratio_glimpses(r, worked))
		seen = ratio_confirm(r, worked) ? CPUC_RATIO_STEPPED
						: CPUC_RATIO_UNCLEAR;
	if (seen != CPUC_RATIO_STEPPED && r->measure_in == 0)
		seen = ratio_measure(
			r, cpuc_tracker_every(&r->tracker, s) + late, worked);
	if (seen == CPUC_RATIO_STEPPED)
		cpuc_tracker_step(&r->tracker, s);
	ratio_plan(r, seen);
	return seen;
}
