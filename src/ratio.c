/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio: the mean of its measurements, and when the next one is
 * due. */
#include <config.h>
#include "ratio.h"

/* One part of the time in so many goes into measuring. */
#define COST 1024u

/* Ticks to the next measurement after a change. */
#define SOON (cpuc_calibration.hz / 20000)

#define WINDOWS 3 /* of a measurement, two of which must be NEAR */
#define BURST 9   /* of one that decides, six of which must be CLOSE */
#define NEAR CPUC_PERMILLE(10) /* to the mean, if the rate has not changed */
#define CLOSE CPUC_PERMILLE(5)
#define MEMORY 16 /* measurements in the mean */
#define MOVED 6   /* on one side of the mean: it has moved; or half as many */

static uint64_t ratio_towards(uint64_t from, uint64_t to, uint32_t parts)
{
	return from + (uint64_t)((int64_t)(to - from) / (int32_t)parts);
}

/* The noise is what measurements differ in from one to the next, which hardly
 * shows a drift; a core that dithers is noisy, and its mean is right. Several
 * on one side of the mean count for more, twice as much if beyond the noise. */
static void ratio_add(struct cpuc_ratio *r, uint64_t ratio)
{
	uint32_t off = cpuc_apart(ratio, r->mean);
	int side = ratio > r->mean ? 1 : -1;

	if (r->known < MEMORY)
		r->known++;
	r->noise = (uint32_t)ratio_towards(r->noise, cpuc_apart(ratio, r->last),
					   r->known);
	if (r->side * side < 0)
		r->side = 0;
	if (off > r->noise + r->noise / 4 + cpuc_calibration.grain / 4)
		side *= 2;
	if (r->side < MOVED && r->side > -MOVED)
		r->side = (int16_t)(r->side + side);
	if ((r->side >= MOVED || r->side <= -MOVED) && r->known > 2)
		r->known = 2;
	r->mean = ratio_towards(r->mean, ratio, r->known);
	r->last = ratio;
	__atomic_store_n(&cpuc_calibration.recent,
			 (uint32_t)(r->mean >> CPUC_RECENT_BITS),
			 __ATOMIC_RELAXED);
}

static void ratio_begin(struct cpuc_ratio *r, uint64_t ratio)
{
	r->known = 1;
	r->mean = r->last = ratio;
	r->noise = 0;
	r->side = 0;
}

/* Measures; the number of windows that it took. *changed becomes true if the
 * thread is fresh, or its core's rate another one than before. */
static unsigned ratio_measure(struct cpuc_ratio *r, uint64_t t, bool *changed)
{
	uint64_t ratio =
		__atomic_load_n(&cpuc_calibration.recent, __ATOMIC_RELAXED);

	if (r->known == 0) {
		*changed = true;
		ratio_begin(r, ratio << CPUC_RECENT_BITS);
		/* The thread that calibrated has just made its windows. */
		if (t - cpuc_calibration.tick < cpuc_calibration.span)
			return WINDOWS;
	}
	ratio = cpuc_windows(WINDOWS, 2, NEAR);
	if (ratio == 0)
		return WINDOWS;
	if (cpuc_apart(ratio, r->mean) <= NEAR + r->noise) {
		ratio_add(r, ratio);
		return WINDOWS;
	}
	ratio = cpuc_windows(BURST, 6, CLOSE);
	if (ratio != 0) {
		*changed = true;
		ratio_begin(r, ratio);
	}
	return WINDOWS + BURST;
}

/* The usual number of ticks from one measurement to the next, by its cost. */
static uint32_t wait_most(unsigned windows)
{
	uint64_t most = (uint64_t)windows * cpuc_calibration.span * COST;

	return (uint32_t)(most < CPUC_RATIO_LONG ? most : CPUC_RATIO_LONG);
}

uint32_t cpuc_ratio_usual(void)
{
	return wait_most(WINDOWS);
}

/* After a change few ticks, then twice as many each time, up to the usual; at
 * odd times, so as not to keep step with anything. */
void cpuc_ratio_measure(struct cpuc_ratio *r, uint64_t t, bool pause)
{
	bool soon = pause;
	uint32_t most = wait_most(ratio_measure(r, t, &soon));
	uint64_t wait = soon ? SOON : 2 * (uint64_t)r->wait;
	uint32_t odd;

	r->wait = wait < most ? (uint32_t)wait : most;
	/* The golden ratio's multiples are spread evenly. */
	odd = (uint32_t)t * 2654435769u;
	r->until = r->wait - (uint32_t)((uint64_t)odd * (r->wait / 8) >> 32);
	r->since = t;
}

void cpuc_ratio_moved(struct cpuc_ratio *r, uint64_t t)
{
	uint64_t soon = t - r->since + SOON;

	if (r->until > soon)
		r->until = (uint32_t)soon;
}
