/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio: the mean of its measurements, and when the next one is due.
 *
 * A measurement is a few windows, exact and long. A look is one window, so
 * short that it only distinguishes a step of the rate from noise; it never
 * changes the mean. Looks are rare while the rate stands still and frequent
 * while it moves: some cores step by 2.5% 500 times a second for a while, and
 * stand still for seconds. */
#include <config.h>
#include "ratio.h"

/* The share of the time for looks while the rate stands still, and while it
 * moves; and for measurements. */
#define COST_STILL 750u
#define COST_MOVING 300u
#define COST_MEASURED 1500u

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
#define BURST 2   /* of a burst after a step, which must be CLOSE */
#define BURSTS 2  /* before windows of one in doubt: */
#define DOUBT 9   /* so many, more than half of which must be within FAR */
#define AGAIN 2   /* looks that must confirm one that is FAR off */
#define FAR CPUC_PERMILLE(10)
#define NEAR CPUC_PERMILLE(7) /* to the mean, if the rate has not changed */
#define CLOSE CPUC_PERMILLE(5)
#define GRAIN (cpuc_calibration.look_grain / 4) /* more, for a look */
#define DRIFT 8   /* looks whose mean must be CLOSE to the ratio */
#define MEMORY 16 /* measurements in the mean; of a core that dithers: */
#define MEMORY_DITHERS 64
#define MOVED 8 /* on one side of the mean: it has moved; or half as many */
#define MOVED_DITHERS 16       /* as chance often puts 8 there */
#define TREND CPUC_PERMILLE(1) /* off, and not for the first time in a row */

static uint64_t ratio_towards(uint64_t from, uint64_t to, uint32_t parts)
{
	return from + (uint64_t)((int64_t)(to - from) / (int32_t)parts);
}

/* Noise is the average difference between consecutive measurements, which
 * hardly shows a drift; a core that dithers is noisy, and its mean is right.
 * Several on one side of the mean count for more, twice as much if beyond the
 * noise. While the rate goes on moving in one direction (a Zen 5 core's did, by
 * 3% in 20 ms), the time between measurements becomes shorter. */
static void ratio_add(struct cpuc_ratio *r, uint64_t ratio)
{
	uint32_t off = cpuc_apart(ratio, r->mean);
	int side = ratio > r->mean ? 1 : -1, memory = MEMORY, moved = MOVED;

	if (r->noise > CLOSE / 2) {
		memory = MEMORY_DITHERS;
		moved = MOVED_DITHERS;
	}
	if (r->known < memory)
		r->known++;
	r->noise = (uint32_t)ratio_towards(r->noise, cpuc_apart(ratio, r->last),
					   r->known);
	if (r->side * side < 0)
		r->side = 0;
	if (off > r->noise + r->noise / 4 + cpuc_calibration.grain / 4)
		side *= 2;
	if (r->side < moved && r->side > -moved)
		r->side = (int16_t)(r->side + side);
	if ((r->side >= moved || r->side <= -moved) && r->known > 2)
		r->known = 2;
	if (off > TREND + r->noise / 4 + cpuc_calibration.grain / 4 &&
	    (r->side > 1 || r->side < -1) && r->wait > STEPPED)
		r->wait /= 3;
	r->mean = ratio_towards(r->mean, ratio, r->known);
	r->last = ratio;
}

static void ratio_begin(struct cpuc_ratio *r, uint64_t ratio)
{
	r->known = 1;
	r->mean = r->last = ratio;
	r->noise = 0;
	r->side = 0;
	r->brief.known = 0;
}

/* The ratio, measured by a burst that agrees with earlier windows or looks,
 * which found it to be `about` that, or else by many windows. 0: no agreement.
 */
static uint64_t ratio_burst(struct cpuc_ratio *r, uint64_t about)
{
	uint64_t ratio;
	int i;

	for (i = 0; i < BURSTS; i++, about = ratio) {
		ratio = cpuc_windows(BURST, BURST, CLOSE, about);
		if (ratio == 0)
			break;
		if (cpuc_apart(ratio, about) <= FAR + GRAIN)
			return ratio;
	}
	return cpuc_windows(DOUBT, DOUBT / 2 + 1, FAR, cpuc_look(&r->brief));
}

/* Whether the ratio is another one than before. */
static bool ratio_stepped(struct cpuc_ratio *r, uint64_t about)
{
	uint64_t ratio = ratio_burst(r, about);

	if (ratio == 0)
		return false;
	if (cpuc_apart(ratio, r->mean) <= CLOSE) {
		ratio_add(r, ratio);
		return false;
	}
	ratio_begin(r, ratio);
	r->still = 0;
	return true;
}

/* Whether the ratio is another one than before, or the thread is fresh. */
static bool ratio_measure(struct cpuc_ratio *r, uint64_t t)
{
	uint64_t ratio;
	bool fresh = r->known == 0;

	if (fresh) {
		ratio = __atomic_load_n(&cpuc_calibration.recent,
					__ATOMIC_RELAXED);
		ratio_begin(r, ratio << CPUC_RECENT_BITS);
		r->still = (uint32_t)CPUC_RATIO_LONG;
		/* The thread that calibrated has just made its windows. */
		if (t - cpuc_calibration.tick < cpuc_calibration.span)
			return true;
	}
	ratio = cpuc_windows(WINDOWS, 2, NEAR, r->mean);
	if (ratio == 0 || cpuc_apart(ratio, r->mean) > NEAR + r->noise)
		return ratio_stepped(r, ratio ? ratio : cpuc_look(&r->brief)) ||
		       fresh;
	ratio_add(r, ratio);
	return fresh;
}

/* The verdict of a look. Where it is FAR off, two more follow, and both must
 * be; then `about` is the mean of these two. */
enum ratio_verdict { STANDS, DRIFTS, STEPS };

static enum ratio_verdict ratio_look(struct cpuc_ratio *r, uint64_t *about)
{
	uint32_t far = FAR + r->noise + GRAIN, off;
	int32_t close = (int32_t)(CLOSE + r->noise + GRAIN), way = 0, same = 0;
	uint64_t ratio;
	int i;

	*about = 0;
	for (i = 0; i <= AGAIN; i++) {
		ratio = cpuc_look(&r->brief);
		off = cpuc_apart(ratio, r->mean);
		way = ratio > r->mean ? 1 : -1;
		same += way;
		if (off <= far)
			break;
		if (i > 0)
			*about += ratio / AGAIN;
	}
	if (i > AGAIN)
		return same == i || same == -i ? STEPS : STANDS;
	r->drift += (way * (int32_t)off - r->drift) / DRIFT;
	return r->drift > close || r->drift < -close ? DRIFTS : STANDS;
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

/* From one look to the next. */
static uint32_t ratio_interval(const struct cpuc_ratio *r)
{
	uint32_t least = ratio_product(r->cost, COST_MOVING);
	uint32_t most = ratio_product(r->cost, COST_STILL);
	uint32_t wait = r->still / LOOKS, first = r->still / LOOKS_FIRST;

	most = most > STILL ? most : STILL;
	wait = wait < least ? least : wait;
	wait = wait < most ? wait : most;
	wait = wait < first ? wait : first;
	return wait > MOVING ? wait : MOVING;
}

/* Sets when the next measurement is due: soon, then after half as long again
 * each time, up to the usual; after half the time while there is a trend. */
static void ratio_next(struct cpuc_ratio *r, uint64_t t, uint32_t wait)
{
	uint32_t most =
		ratio_product(WINDOWS * cpuc_calibration.span, COST_MEASURED);

	r->drift = 0;
	r->wait = wait < most ? wait : most;
	r->left = ratio_odd(t, r->wait);
	__atomic_store_n(&cpuc_calibration.recent,
			 (uint32_t)(r->mean >> CPUC_RECENT_BITS),
			 __ATOMIC_RELAXED);
}

bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t t)
{
	uint64_t passed = t - r->since;
	bool pause = passed > r->until + CPUC_RATIO_LONG / 8;
	enum ratio_verdict verdict = DRIFTS;
	uint32_t ticks, still;
	uint64_t about;

	ticks = (uint32_t)(passed < CPUC_RATIO_LONG ? passed : CPUC_RATIO_LONG);
	r->still += r->still < UINT32_MAX / 2 ? ticks : 0;
	still = r->still;
	r->left -= r->left < ticks ? r->left : ticks;
	r->since = t;
	if (r->left > 0)
		verdict = ratio_look(r, &about);
	if (verdict == STEPS)
		ratio_stepped(r, about);
	else if (r->left == 0)
		pause |= ratio_measure(r, t);
	else if (verdict == DRIFTS) {
		r->known = r->known > 2 ? 2 : r->known;
		ratio_measure(r, t);
	}
	if (r->still < still)
		ratio_next(r, t, STEPPED);
	else if (pause)
		ratio_next(r, t, CPUC_RATIO_SOON);
	else if (verdict == DRIFTS)
		ratio_next(r, t, r->wait + r->wait / 2);
	r->until = ratio_odd(t, ratio_interval(r));
	if (r->until > r->left)
		r->until = r->left;
	return verdict == STANDS;
}

void cpuc_ratio_moved(struct cpuc_ratio *r, uint64_t t)
{
	uint64_t soon = t - r->since + CPUC_RATIO_SOON;

	if (r->left > CPUC_RATIO_SOON)
		r->left = CPUC_RATIO_SOON;
	if (r->until > soon)
		r->until = (uint32_t)soon;
}
