/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio: a filter's mean of measurements, and when the next one is
 * due.
 *
 * A measurement is one long window. A look is a short one, which shows only
 * that the rate may have stepped; further windows confirm it. Looks are rare
 * while the rate is steady and frequent while it changes: some cores step by
 * 2.5% 500 times a second for a while, and are steady for seconds.
 *
 * The filter is an exponential mean, which goes half the way to each
 * measurement. A longer memory would gain little, as a measurement is off by
 * hardly more than the rate changes until the next one; and after a disturbance
 * the mean is soon right again.
 *
 * An innovation is a measurement's difference from the mean; the noise is how
 * much innovations differ from one to the next. A large innovation is tested:
 * if a second measurement confirms it, the rate has changed, and the mean
 * follows at once. The rate may well change again, so the next measurement
 * comes soon. */
#include <config.h>
#include "ratio.h"
#include "constants.h"

/* A look that differs from the mean by less shows no step. */
#define RATIO_LOOK (STEP_LEAST + cpuc_calibration.look_grain * 3 / 8)

static uint32_t ratio_least(uint64_t a, uint64_t b)
{
	return (uint32_t)(a < b ? a : b);
}

/* A larger innovation is tested. */
static uint32_t ratio_surprise(const struct cpuc_ratio *r)
{
	return r->noise * FILTER_LARGE / 2;
}

/* A drift makes innovations large, but all alike: it is no noise. */
static void ratio_add(struct cpuc_ratio *r, uint64_t ratio)
{
	int32_t off =
		(int32_t)ratio_least(cpuc_apart(ratio, r->mean), STEP_LEAST);
	int32_t noise;

	off = ratio < r->mean ? -off : off;
	noise = off > r->last ? off - r->last : r->last - off;
	r->noise = (uint16_t)(r->noise + (noise - r->noise) / FILTER_MEAN);
	r->last = (int16_t)off;
	r->mean += (uint64_t)((int64_t)(ratio - r->mean) / (r->known ? 2 : 1));
	r->known = true;
}

/* Whether the rate has stepped, to about this ratio: windows must agree on it,
 * and none may be at the old rate. Another hardware thread of the core makes
 * windows longer, but hardly three of them by the same. */
static bool ratio_confirm(struct cpuc_ratio *r, uint64_t about)
{
	unsigned i, n = about > r->mean ? STEP_FASTER : STEP_SLOWER;
	uint32_t near = 2 * RATIO_LOOK;
	uint64_t ratio, sum = 0;
	/* Between that of looks and that of measurements, as the length is. */
	struct cpuc_overhead o = {
		r->looking.cycles + (r->measuring.cycles - r->looking.cycles) /
					    MEASUREMENT_LENGTH,
		r->measuring.known};

	for (i = 0; i < n; i++, near = STEP_PAIR) {
		ratio = cpuc_window(&o, cpuc_calibration.turns, about);
		if (cpuc_apart(ratio, r->mean) <= STEP_LEAST)
			return false;
		if (cpuc_apart(ratio, about) > near)
			return false;
		if (i == 0)
			about = ratio;
		sum += ratio;
	}
	r->mean = sum / n;
	r->known = true;
	r->still = 0;
	return true;
}

static uint64_t ratio_window(struct cpuc_ratio *r)
{
	uint32_t windows = r->known ? MEASUREMENT_LENGTH : MEASUREMENT_FIRST;

	return cpuc_window(&r->measuring, windows * cpuc_calibration.turns,
			   r->mean);
}

/* Whether the ratio has moved. */
static bool ratio_measure(struct cpuc_ratio *r)
{
	uint64_t ratio = ratio_window(r), first = ratio;
	uint32_t off = cpuc_apart(ratio, r->mean);
	bool moved = false;

	/* A fresh thread has the process's first ratio: if that one was
	 * disturbed, a small difference is no step. Of what is hardly a step,
	 * windows may show nothing, as they are shorter. */
	if (off > STEP_LEAST * (r->known ? 1 : 2)) {
		if (ratio_confirm(r, ratio))
			return true;
		if (off > 2 * STEP_LEAST)
			return false;
	}
	if (off > ratio_surprise(r)) {
		ratio = ratio_window(r);
		off = cpuc_apart(ratio, first);
		if (off > STEP_LEAST)
			return false;
		moved = off < cpuc_apart(ratio, r->mean);
		if (moved)
			r->mean = first;
	}
	ratio_add(r, ratio);
	return moved;
}

/* From one look to the next. */
static uint32_t ratio_interval(const struct cpuc_ratio *r)
{
	uint64_t cost = cpuc_calibration.look_cost;
	uint64_t ticks = r->still / LOOK_SINCE_STEP;

	ticks = ticks > cost * LOOK_MOVING ? ticks : cost * LOOK_MOVING;
	ticks = ratio_least(ticks, cost * LOOK_STILL);
	return ratio_least(ticks, r->left);
}

/* Sets when the next measurement is due: soon if the ratio moved, then after
 * half as long again each time, up to the usual interval; where the clock is
 * coarse and windows are long, that is a second at most. */
static void ratio_next(struct cpuc_ratio *r, bool moved)
{
	uint32_t wait = r->wait + r->wait / 2;
	uint64_t most = (uint64_t)cpuc_calibration.span * MEASUREMENT_LENGTH *
			(moved ? MEASUREMENT_MOVING : MEASUREMENT_STILL);

	if (most < MEASUREMENT_MOVED)
		most = MEASUREMENT_MOVED;
	most = ratio_least(most, cpuc_calibration.hz);
	r->left = r->wait = ratio_least(wait, most);
}

static void ratio_pass(struct cpuc_ratio *r, uint64_t passed)
{
	uint32_t ticks = ratio_least(passed, COUNT_LONG);

	r->still += r->still < UINT32_MAX / 2 ? ticks : 0;
	r->left -= ratio_least(r->left, ticks);
	r->until -= ratio_least(r->until, ticks);
}

void cpuc_ratio_first(struct cpuc_ratio *r, uint64_t t)
{
	r->mean = cpuc_calibration.ratio;
	r->noise = (uint16_t)(cpuc_calibration.grain / 4);
	r->wait = MEASUREMENT_SOON;
	/* The thread that calibrated has just measured. */
	if (t - cpuc_calibration.tick < cpuc_calibration.span)
		r->until = r->left = MEASUREMENT_SOON;
}

bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed)
{
	bool stands = false, moved;
	uint64_t ratio;

	ratio_pass(r, passed);
	if (r->until > 0)
		return false;
	if (r->left == 0) {
		moved = ratio_measure(r);
	} else {
		ratio = cpuc_window(&r->looking, cpuc_calibration.look_turns,
				    r->mean);
		stands = cpuc_apart(ratio, r->mean) <= RATIO_LOOK;
		moved = !stands && ratio_confirm(r, ratio);
	}
	if (moved || r->left == 0)
		ratio_next(r, moved);
	r->until = ratio_interval(r);
	return !stands;
}

void cpuc_ratio_migrated(struct cpuc_ratio *r)
{
	/* What is known of overheads weighs no more than one window. A fresh
	 * thread's first look takes them for 0: its difference alone would be
	 * too uncertain. */
	r->measuring.known = r->measuring.known > 0;
	r->looking.known = 1;
	r->until = ratio_least(r->until, MEASUREMENT_SOON);
}
