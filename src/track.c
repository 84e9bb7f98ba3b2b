/* SPDX-License-Identifier: 0BSD */
/* Follows a core's rate by one window at a time.
 *
 * While windows agree with what is known, they refine a running mean, and the
 * ratio in use stays as it is until the mean differs from it by more than the
 * windows' own scatter explains: repeated timings of the same code then agree.
 * Where the windows scatter more than the clock explains, the rate itself is
 * moving, as on cores that dither between two rates, and the ratio is that of
 * the last window: of all tried, this came closest. A window far off is
 * believed when a second one confirms it, and then at once: the rate has
 * stepped, or the thread has moved to another core. */
#include <config.h>
#include "calibrate.h"

#define MEMORY 16 /* windows in the mean: some 40 ms */
#define FAR 6     /* mean deviations: one window in a million by chance */
#define SPREAD_MAX (1 << 14) /* 1.6%: no core's rate moves by more at a time \
			      */

/* Whether the windows scatter more than the clock explains: the rate itself
 * is moving. Then the last window tells the most. */
static bool wandering(const struct cpuc_track *t)
{
	return 2 * t->spread > 3 * cpuc_ruler.noise;
}

static uint32_t magnitude(int32_t deviation)
{
	return (uint32_t)(deviation < 0 ? -deviation : deviation);
}

static bool agree(uint64_t a, uint64_t b, uint32_t limit)
{
	return a != 0 && b != 0 && magnitude(cpuc_deviation(a, b)) <= limit;
}

/* What three of four windows agree on, `a` being the first, or 0: two that
 * were interrupted may agree by chance. */
static uint64_t confirm(uint64_t a, uint32_t limit)
{
	uint64_t b = cpuc_window(&cpuc_ruler), c = cpuc_window(&cpuc_ruler), d;

	if (!agree(a, b, limit)) {
		/* One of these is wrong: the other must agree with the rest. */
		d = cpuc_window(&cpuc_ruler);
		if (agree(b, c, limit))
			a = d;
		else
			b = d;
	}
	if (!agree(a, b, limit) || !agree(c, b, limit))
		return 0;
	a = a / 4 + b / 2 + c / 4;
	return cpuc_core_rate(&cpuc_ruler, a) ? a : 0;
}

/* A window that the mean does not explain, or the thread's first. */
static uint64_t step(struct cpuc_track *t, uint64_t window)
{
	uint32_t noise = cpuc_ruler.noise;
	uint64_t mean;

	if (t->weight == 0)
		t->spread = noise;
	mean = confirm(window, FAR * t->spread / 2 + noise);
	if (mean != 0) {
		t->ratio = t->mean = mean;
		t->weight = 2;
	} else if (t->spread < SPREAD_MAX) {
		/* Perhaps the rate has begun to move more than it did. */
		t->spread += t->spread / 32 + 1;
	}
	return t->ratio;
}

static void refine(struct cpuc_track *t, int32_t dev)
{
	int32_t floor = (int32_t)cpuc_ruler.noise / 4 + 1;
	int32_t spread = (int32_t)t->spread;

	t->weight = wandering(t)         ? 1
		    : t->weight < MEMORY ? t->weight + 1
					 : MEMORY;
	t->mean +=
		(uint64_t)((int64_t)(t->mean >> 20) * dev / (int32_t)t->weight);
	spread += ((int32_t)magnitude(dev) - spread) / 16;
	spread = spread > floor ? spread : floor;
	t->spread = (uint32_t)(spread < SPREAD_MAX ? spread : SPREAD_MAX);
}

uint64_t cpuc_track_measure(struct cpuc_track *t)
{
	uint64_t window;
	uint32_t off;
	int32_t dev;

	cpuc_window_warm(&cpuc_ruler);
	window = cpuc_window(&cpuc_ruler);
	if (t->weight == 0)
		return step(t, window);
	dev = cpuc_deviation(window, t->mean);
	if (magnitude(dev) > FAR * t->spread)
		return step(t, window);
	refine(t, dev);
	off = magnitude(cpuc_deviation(t->mean, t->ratio));
	/* A mean deviation is four times the standard error of the mean. Once
	 * that is exceeded, older windows tell less of the rate of now. */
	if (wandering(t) || off > t->spread) {
		t->ratio = t->mean;
		t->weight = t->weight > 4 ? 4 : t->weight;
	}
	return t->ratio;
}
