/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio: a filter's mean of measurements, and when the next one is
 * due.
 *
 * A measurement is one window, long and exact. A look is a short one, which
 * only shows that the rate may have stepped; windows confirm it. Looks are rare
 * while the rate stands still and frequent while it moves: some cores step by
 * 2.5% 500 times a second for a while, and stand still for seconds.
 *
 * The filter is a Kalman filter of one number, which walks at random: the gain
 * follows from the noise of measurements, and that from how much their
 * innovations, which are the differences from the mean, differ from one to the
 * next. A large innovation is tested: if a second measurement confirms it, the
 * rate has stepped, and the filter begins anew. */
#include <config.h>
#include "ratio.h"

/* One part in so many of the time is for looks while the rate stands still, and
 * while it moves; and for measurements. */
#define RATIO_COST_STILL 1500u
#define RATIO_COST_MOVING 250u
#define RATIO_COST_MEASURED 1800u

/* A look comes after this part of the time since the latest step: another is
 * likely soon. Right after the step it comes after a larger part, whatever it
 * costs: half of a busy core's levels last less than 0.3 ms. */
#define RATIO_LOOKS 64
#define RATIO_LOOKS_FIRST 4

/* Ticks to the next measurement after a step; and between looks, at most where
 * they cost little, and at least. */
#define RATIO_STEPPED (uint32_t)(cpuc_calibration.hz / 250)
#define RATIO_STILL (uint32_t)(cpuc_calibration.hz / 2500)
#define RATIO_MOVING (uint32_t)(cpuc_calibration.hz / 20000)

/* A measurement is a window of so many times the length of one that confirms: a
 * third of the noise. */
#define RATIO_LENGTH 3

/* A step to a higher rate is shown by so many windows, and to a lower one: */
#define RATIO_FASTER 2
#define RATIO_SLOWER 3

/* Ratios that differ by less are the same: a measurement, or a window, and the
 * mean; a look and the mean; two windows. */
#define RATIO_STEP CPUC_PERMILLE(5)
#define RATIO_LOOK (RATIO_STEP + cpuc_calibration.look_grain / 4)
#define RATIO_PAIR (CPUC_PERMILLE(4) + cpuc_calibration.grain)

/* From one measurement to the next the rate walks so far, */
#define RATIO_WALK (CPUC_PERMILLE(1) / 5)
/* and the clock's resolution alone makes them differ by so much. */
#define RATIO_GRAIN (cpuc_calibration.grain / 12)

static uint32_t ratio_least(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

/* A larger innovation is tested: 2.5 times the noise of late, and what the walk
 * may add. */
static uint32_t ratio_surprise(const struct cpuc_ratio *r)
{
	return r->noise * 5u / 2 + RATIO_WALK;
}

static void ratio_begin(struct cpuc_ratio *r, uint64_t ratio)
{
	r->mean = ratio;
	r->known = 1;
	r->last = 0;
}

/* At first the mean of all, later the filter in its steady state, whose gain is
 * the walk over the noise. A drift makes innovations large, but not different:
 * that is no noise. */
static void ratio_add(struct cpuc_ratio *r, uint64_t ratio)
{
	int32_t off =
		(int32_t)ratio_least(cpuc_apart(ratio, r->mean), RATIO_STEP);
	int32_t noise;

	off = ratio < r->mean ? -off : off;
	noise = off > r->last ? off - r->last : r->last - off;
	noise = r->noise + (noise - r->noise) / 16;
	if (noise < (int32_t)RATIO_GRAIN)
		noise = (int32_t)RATIO_GRAIN;
	r->last = (int16_t)off;
	r->noise = (uint16_t)noise;
	r->known =
		(uint8_t)ratio_least(r->known + 1u, 1 + r->noise / RATIO_WALK);
	r->mean += (uint64_t)((int64_t)(ratio - r->mean) / r->known);
}

/* Whether the rate has stepped, to `about` that: if windows agree on it and
 * none is at the old rate. Another hardware thread of the core makes windows
 * longer, but hardly three by the same. */
static bool ratio_confirm(struct cpuc_ratio *r, uint64_t about)
{
	unsigned i, n = about > r->mean ? RATIO_FASTER : RATIO_SLOWER;
	uint32_t near = 2 * RATIO_LOOK;
	uint64_t ratio, sum = 0;
	/* Between those of looks and of measurements, as their length is. */
	struct cpuc_overhead o = {
		r->looking.cycles + (r->measuring.cycles - r->looking.cycles) /
					    RATIO_LENGTH,
		r->measuring.known};

	for (i = 0; i < n; i++, near = RATIO_PAIR) {
		ratio = cpuc_window(&o, cpuc_calibration.turns + i, about);
		if (cpuc_apart(ratio, r->mean) <= RATIO_STEP ||
		    cpuc_apart(ratio, about) > near)
			return false;
		if (i == 0)
			about = ratio;
		sum += ratio;
	}
	ratio_begin(r, sum / n);
	r->still = 0;
	return true;
}

/* A fresh thread begins with the process's first ratio. */
static void ratio_fresh(struct cpuc_ratio *r)
{
	ratio_begin(r, cpuc_calibration.ratio);
	r->noise = (uint16_t)RATIO_GRAIN;
	r->still = (uint32_t)CPUC_RATIO_LONG;
}

static uint64_t ratio_window(struct cpuc_ratio *r)
{
	return cpuc_window(&r->measuring, RATIO_LENGTH * cpuc_calibration.turns,
			   r->mean);
}

static void ratio_measure(struct cpuc_ratio *r)
{
	uint64_t ratio = ratio_window(r), first = ratio;
	uint32_t off = cpuc_apart(ratio, r->mean);

	if (off > RATIO_STEP) {
		ratio_confirm(r, ratio);
		return;
	}
	if (off > ratio_surprise(r)) {
		ratio = ratio_window(r);
		off = cpuc_apart(ratio, r->mean);
		if (off > RATIO_STEP)
			return;
		if (cpuc_apart(ratio, first) < off) {
			ratio_begin(r, first);
			r->wait = RATIO_STEPPED;
		}
	}
	ratio_add(r, ratio);
}

/* Whether the ratio is still the mean, for all that a look shows. */
static bool ratio_look(struct cpuc_ratio *r)
{
	uint64_t ratio =
		cpuc_window(&r->looking, cpuc_calibration.look_turns, r->mean);

	if (cpuc_apart(ratio, r->mean) <= RATIO_LOOK)
		return true;
	ratio_confirm(r, ratio);
	return false;
}

/* At odd times, so as not to keep step with anything: the golden ratio's
 * multiples are spread evenly. */
static uint32_t ratio_odd(uint64_t t, uint32_t wait)
{
	uint32_t odd = (uint32_t)t * UINT32_C(2654435769);

	return wait - (uint32_t)((uint64_t)odd * (wait / 8) >> 32);
}

static uint32_t ratio_product(uint32_t a, uint32_t b)
{
	uint64_t n = (uint64_t)a * b;

	return (uint32_t)(n < CPUC_RATIO_LONG ? n : CPUC_RATIO_LONG);
}

uint32_t cpuc_ratio_cost(void)
{
	return __atomic_load_n(&cpuc_calibration.cost, __ATOMIC_RELAXED);
}

void cpuc_ratio_took(uint64_t ticks)
{
	uint32_t cost = cpuc_ratio_cost();
	uint64_t more = ticks - cost;

	if (cost == 0 || ticks < cost)
		cost = (uint32_t)(ticks < CPUC_RATIO_SOON ? ticks
							  : CPUC_RATIO_SOON);
	else
		cost += (uint32_t)(more < cost ? more : cost) / 16;
	__atomic_store_n(&cpuc_calibration.cost, cost, __ATOMIC_RELAXED);
}

/* From one look to the next. */
static uint32_t ratio_interval(const struct cpuc_ratio *r)
{
	uint32_t least = ratio_product(cpuc_ratio_cost(), RATIO_COST_MOVING);
	uint32_t most = ratio_product(cpuc_ratio_cost(), RATIO_COST_STILL);
	uint32_t wait = r->still / RATIO_LOOKS,
		 first = r->still / RATIO_LOOKS_FIRST;

	most = most > RATIO_STILL ? most : RATIO_STILL;
	wait = wait < least ? least : wait;
	wait = wait < most ? wait : most;
	wait = wait < first ? wait : first;
	return wait > RATIO_MOVING ? wait : RATIO_MOVING;
}

/* Sets when the next measurement is due: soon, then after half as long again
 * each time, up to the usual. Where the clock is coarse and windows are long,
 * that is a second at most. */
static void ratio_next(struct cpuc_ratio *r, uint64_t t, uint32_t wait)
{
	uint64_t most = UINT64_C(1) * RATIO_LENGTH * RATIO_COST_MEASURED *
			cpuc_calibration.span;

	most = most < cpuc_calibration.hz ? most : cpuc_calibration.hz;
	r->wait = wait < most ? wait : (uint32_t)most;
	r->left = ratio_odd(t, r->wait);
}

/* So many ticks pass. After a pause the core's rate may be another one: it is
 * measured. */
static void ratio_pass(struct cpuc_ratio *r, uint64_t passed)
{
	bool pause = passed > r->until + CPUC_RATIO_LONG / 8;
	uint32_t ticks =
		(uint32_t)(passed < CPUC_RATIO_LONG ? passed : CPUC_RATIO_LONG);

	r->still += r->still < UINT32_MAX / 2 ? ticks : 0;
	r->left -= r->left < ticks || pause ? r->left : ticks;
	r->until -= r->until < ticks ? r->until : ticks;
}

enum cpuc_ratio_done cpuc_ratio_update(struct cpuc_ratio *r, uint64_t t,
				       uint64_t passed)
{
	bool fresh = r->known == 0, measures, stands = false;
	uint32_t still;

	ratio_pass(r, passed);
	if (r->until > 0)
		return CPUC_RATIO_NOTHING;
	if (fresh)
		ratio_fresh(r);
	still = r->still;
	measures = r->left == 0;
	/* The thread that calibrated has just made its windows. */
	if (measures &&
	    !(fresh && t - cpuc_calibration.tick < cpuc_calibration.span))
		ratio_measure(r);
	else if (!measures)
		stands = ratio_look(r);
	if (r->still < still)
		ratio_next(r, t, RATIO_STEPPED);
	else if (fresh)
		ratio_next(r, t, CPUC_RATIO_SOON);
	else if (measures)
		ratio_next(r, t, r->wait + r->wait / 2);
	r->until = ratio_odd(t, ratio_interval(r));
	if (r->until > r->left)
		r->until = r->left;
	return stands ? CPUC_RATIO_LOOKED : CPUC_RATIO_MEASURED;
}

void cpuc_ratio_moved(struct cpuc_ratio *r)
{
	r->measuring.known /= 8;
	r->looking.known /= 8;
	if (r->left > CPUC_RATIO_SOON)
		r->left = CPUC_RATIO_SOON;
	if (r->until > CPUC_RATIO_SOON)
		r->until = CPUC_RATIO_SOON;
}
