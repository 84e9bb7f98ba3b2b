/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio: the mean of its measurements, and when the next one is due.
 *
 * A measurement is a few windows, exact and long. A look is one window, so
 * short that it only shows that the rate may have stepped; windows confirm it.
 * Looks are rare while the rate stands still and frequent while it moves: some
 * cores step by 2.5% 500 times a second for a while, and stand still for
 * seconds. */
#include <config.h>
#include "ratio.h"

/* The share of the time for looks while the rate stands still, and while it
 * moves; and for measurements. */
#define COST_STILL 1500u
#define COST_MOVING 287u
#define COST_MEASURED 2000u

/* A look comes after this part of the time since the latest step: another is
 * likely soon. Right after the step it comes after a larger part, whatever it
 * costs: half of a busy core's levels last less than 0.3 ms. */
#define LOOKS 64
#define LOOKS_FIRST 4

/* Ticks to the next measurement after a step; and between looks, at most where
 * they cost little, and at least. */
#define STEPPED (uint32_t)(cpuc_calibration.hz / 500)
#define STILL (uint32_t)(cpuc_calibration.hz / 2500)
#define MOVING (uint32_t)(cpuc_calibration.hz / 20000)

#define WINDOWS 3 /* of a measurement, two of which must be NEAR */
#define DOUBT 9   /* or else more than half of so many */
#define FASTER 2  /* windows that show a step to a higher rate, */
#define SLOWER 3  /* and to a lower one */

/* Ratios that differ by less are the same: a measurement and the mean, */
#define NEAR CPUC_PERMILLE(7)
/* a look and the mean (more where the clock is coarse), */
#define LOOK (CPUC_PERMILLE(5) + cpuc_calibration.look_grain * 3 / 8)
/* one window and the mean, two windows, */
#define WINDOW CPUC_PERMILLE(5)
#define PAIR (CPUC_PERMILLE(4) + cpuc_calibration.grain)
/* and the mean before the latest step and a new one. */
#define BACK CPUC_PERMILLE(2)

/* From this noise on, the core dithers: it is not followed, the mean is right.
 */
#define DITHERS (CPUC_PERMILLE(5) / 2)

#define SURE 2    /* measurements of a level that is remembered */
#define MEMORY 16 /* measurements in the mean; of a core that dithers: */
#define MEMORY_DITHERS 64
#define MOVED 8 /* on one side of the mean: it has moved; or half as many */
#define MOVED_DITHERS 16       /* as chance often puts 8 there */
#define TREND CPUC_PERMILLE(1) /* off, and not for the first time in a row */

static uint32_t ratio_short(uint64_t ratio)
{
	return (uint32_t)(ratio >> CPUC_RATIO_SHORT);
}

static uint64_t ratio_towards(uint64_t from, uint64_t to, uint32_t parts)
{
	return from + (uint64_t)((int64_t)(to - from) / (int32_t)parts);
}

/* The noise of a core that dithers, which hides small steps. */
static uint32_t ratio_dither(const struct cpuc_ratio *r)
{
	return r->noise > DITHERS ? r->noise : 0;
}

/* Noise is the average difference between consecutive measurements, which
 * hardly shows a drift; a core that dithers is noisy, and its mean is right.
 * Several on one side of the mean count for more, twice as much if beyond the
 * noise. While the rate goes on moving in one direction (a Zen 5 core's did, by
 * 3% in 20 ms), the time between measurements becomes shorter. */
static void ratio_add(struct cpuc_ratio *r, uint64_t ratio)
{
	uint32_t off = cpuc_apart(ratio, r->mean);
	uint64_t last = (uint64_t)r->last << CPUC_RATIO_SHORT;
	int side = ratio > r->mean ? 1 : -1, memory = MEMORY, moved = MOVED;
	uint32_t noise;

	if (ratio_dither(r) > 0) {
		memory = MEMORY_DITHERS;
		moved = MOVED_DITHERS;
	}
	if (r->known < memory)
		r->known++;
	noise = (uint32_t)ratio_towards(r->noise, cpuc_apart(ratio, last),
					r->known);
	r->noise = (uint16_t)(noise < UINT16_MAX ? noise : UINT16_MAX);
	if (r->side * side < 0)
		r->side = 0;
	if (off > r->noise + r->noise / 4 + cpuc_calibration.grain / 4)
		side *= 2;
	if (r->side < moved && r->side > -moved)
		r->side = (int8_t)(r->side + side);
	if ((r->side >= moved || r->side <= -moved) && r->known > 2)
		r->known = 2;
	if (off > TREND + r->noise / 4 + cpuc_calibration.grain / 4 &&
	    (r->side > 1 || r->side < -1) && r->wait > STEPPED)
		r->wait /= 3;
	r->mean = ratio_towards(r->mean, ratio, r->known);
	r->last = ratio_short(ratio);
}

static void ratio_begin(struct cpuc_ratio *r, uint64_t ratio)
{
	r->known = 1;
	r->mean = ratio;
	r->last = ratio_short(ratio);
	r->noise = 0;
	r->side = 0;
	r->brief.known = 0;
}

/* The rate has stepped. The level before is remembered if it is well known. */
static void ratio_step(struct cpuc_ratio *r, uint64_t ratio, uint8_t known)
{
	uint64_t mean = r->mean;
	uint8_t sure = r->known;

	ratio_begin(r, ratio);
	r->known = known;
	r->still = 0;
	if (sure >= SURE) {
		r->before = ratio_short(mean);
		r->known_before = sure;
	}
}

/* Whether the rate has stepped back to the level before. */
static bool ratio_back(struct cpuc_ratio *r, uint64_t ratio)
{
	uint64_t before = (uint64_t)r->before << CPUC_RATIO_SHORT;
	uint32_t off;

	if (r->known_before == 0)
		return false;
	off = cpuc_apart(ratio, before);
	if (off > BACK ||
	    cpuc_apart(r->mean, before) < BACK + off + r->noise / 2)
		return false;
	ratio_step(r, before, r->known_before);
	return true;
}

/* Whether the rate has stepped, to `about` that: if windows agree on it and
 * none is at the old rate. Another hardware thread of the core makes windows
 * longer, but hardly three by the same. */
static bool ratio_confirm(struct cpuc_ratio *r, uint64_t about)
{
	uint32_t same = WINDOW + ratio_dither(r);
	unsigned i, n = about > r->mean ? FASTER : SLOWER;
	uint64_t ratio, sum = 0;

	for (i = 0; i < n; i++) {
		ratio = cpuc_window(i, about);
		if (i == 0)
			about = ratio;
		if (cpuc_apart(ratio, r->mean) <= same ||
		    cpuc_apart(ratio, about) > PAIR)
			return false;
		sum += ratio;
	}
	if (!ratio_back(r, sum / n))
		ratio_step(r, sum / n, 1);
	return true;
}

/* A fresh thread begins with another one's ratio. */
static void ratio_fresh(struct cpuc_ratio *r)
{
	uint64_t ratio =
		__atomic_load_n(&cpuc_calibration.recent, __ATOMIC_RELAXED);

	ratio_begin(r, ratio << CPUC_RATIO_SHORT);
	r->still = (uint32_t)CPUC_RATIO_LONG;
}

/* Where few windows do not agree, or not on a step, many decide: the time since
 * the last look, long as it may be, counts by the result. */
static void ratio_measure(struct cpuc_ratio *r)
{
	uint64_t ratio = cpuc_windows(WINDOWS, 2, NEAR, r->mean);
	uint32_t near = NEAR + ratio_dither(r);

	if (ratio != 0 && ratio_back(r, ratio))
		return;
	if (ratio != 0 &&
	    cpuc_apart(ratio, r->mean) > WINDOW + ratio_dither(r) &&
	    ratio_confirm(r, ratio))
		return;
	if (ratio == 0 || cpuc_apart(ratio, r->mean) > near) {
		ratio = cpuc_windows(DOUBT, DOUBT / 2 + 1, NEAR,
				     ratio != 0 ? ratio : r->mean);
	}
	if (ratio == 0)
		return;
	if (cpuc_apart(ratio, r->mean) > near)
		ratio_step(r, ratio, 1);
	else
		ratio_add(r, ratio);
}

/* Whether the ratio is still the mean, for all that a look shows. */
static bool ratio_look(struct cpuc_ratio *r)
{
	uint64_t ratio = cpuc_look(&r->brief);

	if (cpuc_apart(ratio, r->mean) <= LOOK + ratio_dither(r))
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
	uint32_t least = ratio_product(cpuc_ratio_cost(), COST_MOVING);
	uint32_t most = ratio_product(cpuc_ratio_cost(), COST_STILL);
	uint32_t wait = r->still / LOOKS, first = r->still / LOOKS_FIRST;

	most = most > STILL ? most : STILL;
	wait = wait < least ? least : wait;
	wait = wait < most ? wait : most;
	wait = wait < first ? wait : first;
	return wait > MOVING ? wait : MOVING;
}

/* Sets when the next measurement is due: soon, then after half as long again
 * each time, up to the usual; after a third of the time while there is a trend.
 */
static void ratio_next(struct cpuc_ratio *r, uint64_t t, uint32_t wait)
{
	uint32_t most =
		ratio_product(WINDOWS * cpuc_calibration.span, COST_MEASURED);

	r->wait = wait < most ? wait : most;
	r->left = ratio_odd(t, r->wait);
	__atomic_store_n(&cpuc_calibration.recent, ratio_short(r->mean),
			 __ATOMIC_RELAXED);
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
		ratio_next(r, t, STEPPED);
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
	if (r->left > CPUC_RATIO_SOON)
		r->left = CPUC_RATIO_SOON;
	if (r->until > CPUC_RATIO_SOON)
		r->until = CPUC_RATIO_SOON;
}
