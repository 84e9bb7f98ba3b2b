/* SPDX-License-Identifier: 0BSD */
/* The rate is taken for a random walk: while nobody measures it, the variance
 * of the ratio grows by `walk` a millisecond. A measurement is weighed by its
 * noise and by what is known already. What measurements differ by beyond their
 * noise is the walk (the filter's process noise).
 *
 * The clock's noise is known. Whatever else scatters measurements, as another
 * hardware thread does, is learnt from pairs of them: two in turn are off to
 * the same side if the ratio lags behind a walk, and to opposite sides if it
 * follows noise. Disturbances make a core seem slower, so of that scatter a
 * part counts where a measurement says that it is faster.
 *
 * Measurements take a part of the time: the more, the faster the rate walks.
 * They are short then, so that they are close, and long where it stands still:
 * noise is less by the square of the length. */
#include <config.h>
#include "../arithmetic.h"
#include "constants.h"
#include "tracker.h"

#define LONG_NOISE                             \
	(MEASUREMENT_LONG * MEASUREMENT_LONG / \
	 (MEASUREMENT_SHORT * MEASUREMENT_SHORT))

static uint16_t tracker_packed(int64_t variance)
{
	variance = variance < 0 ? 0 : variance >> CPUC_VARIANCE_BITS;
	return (uint16_t)cpuc_min((uint64_t)variance, UINT16_MAX);
}

static uint64_t tracker_unpacked(uint16_t variance)
{
	return (uint64_t)variance << CPUC_VARIANCE_BITS;
}

/* Measurements take one part in so many of the time: half as many if the walk
 * is four times as fast. */
static uint32_t tracker_parts(const struct cpuc_tracker *t)
{
	uint32_t parts = MEASUREMENT_STILL, walk = t->walk;

	for (; walk > WALK_STILL; walk -= walk / 4)
		parts -= parts / 8;
	return parts > MEASUREMENT_MOVING ? parts : MEASUREMENT_MOVING;
}

bool cpuc_tracker_walks(const struct cpuc_tracker *t)
{
	return tracker_parts(t) == MEASUREMENT_MOVING;
}

/* The ticks from one measurement to the next: MEASUREMENT_SOON, so often half
 * as long again. */
static uint64_t tracker_spacing(const struct cpuc_calibration *s,
				uint32_t rarer)
{
	uint64_t ticks = MEASUREMENT_SOON(s->hz);

	for (; rarer > 0; rarer--)
		ticks += ticks / 2;
	return ticks;
}

/* So far apart measurements take just their share of the time; but there is one
 * a second. */
static uint64_t tracker_widest(const struct cpuc_tracker *t,
			       const struct cpuc_calibration *s)
{
	const uint32_t windows =
		t->walk > WALK_STILL ? MEASUREMENT_SHORT : MEASUREMENT_LONG;

	return cpuc_min((uint64_t)s->window_ticks * windows * tracker_parts(t),
			s->hz);
}

uint32_t cpuc_tracker_every(const struct cpuc_tracker *t,
			    const struct cpuc_calibration *s)
{
	return (uint32_t)cpuc_min(tracker_spacing(s, t->rarer),
				  tracker_widest(t, s));
}

uint32_t cpuc_tracker_length(const struct cpuc_tracker *t,
			     const struct cpuc_calibration *s)
{
	if (t->walk == 0)
		return MEASUREMENT_FIRST;
	return cpuc_tracker_every(t, s) < cpuc_min((uint64_t)s->window_ticks *
							   MEASUREMENT_LONG *
							   MEASUREMENT_STILL,
						   s->hz)
		       ? MEASUREMENT_SHORT
		       : MEASUREMENT_LONG;
}

/* The clock's noise: `clock` squared is that of two stamps, in a ratio by both
 * runs, 9 short ones long. By their difference, 7 long, it is that of six
 * stamps (1, 2 and 1, squared), and in an overhead of (2/7)^2 (8^2 + 9^2 + 1).
 */
struct cpuc_measurement cpuc_tracker_next(const struct cpuc_tracker *t,
					  const struct cpuc_calibration *s,
					  uint64_t after, uint32_t overheads)
{
	const uint32_t length = cpuc_tracker_length(t, s);
	/* Below 2^20 / WINDOW_GRAINS: squares of it fit. */
	const uint32_t clock = s->grain / (MEASUREMENT_GRAINS * length);
	/* A thread may have slept for days. */
	const uint32_t since = (uint32_t)cpuc_min(after, UINT32_MAX);
	const uint64_t grown = (uint64_t)t->walk * since / (s->hz / 1000);
	uint64_t scatter = tracker_unpacked(t->scatter);
	uint32_t noise;

	noise = clock * clock + MEASUREMENT_NOISE * MEASUREMENT_NOISE;
	noise += overheads > 0 ? OVERHEAD_NOISE * clock * clock / overheads
			       : DIFFERENCE_NOISE * clock * clock;
	if (length == MEASUREMENT_LONG)
		scatter /= LONG_NOISE;
	return (struct cpuc_measurement){
		.length = length,
		.clock_noise = noise,
		.scatter = (uint32_t)scatter,
		.grown = (uint32_t)cpuc_min(grown, UINT32_MAX),
		.after = since,
	};
}

bool cpuc_tracker_far(const struct cpuc_tracker *t,
		      const struct cpuc_measurement *next, uint32_t off)
{
	return (uint64_t)off * off / MEASUREMENT_FAR >
	       tracker_unpacked(t->variance) + next->grown + next->clock_noise;
}

bool cpuc_tracker_scattered(const struct cpuc_tracker *t, uint32_t off)
{
	return (uint64_t)off * off / SCATTER_STEP <
	       tracker_unpacked(t->scatter);
}

/* The scatter that two measurements in turn tell of. */
static void tracker_learn_scatter(struct cpuc_tracker *t,
				  const struct cpuc_measurement *next,
				  int32_t off)
{
	int64_t same = (int64_t)off * t->off / SCATTER_MEMORY;

	if (next->length == MEASUREMENT_LONG)
		same *= LONG_NOISE;
	t->scatter =
		tracker_packed((int64_t)tracker_unpacked(t->scatter) - same);
	t->off = (int16_t)(off > INT16_MAX   ? INT16_MAX
			   : off < INT16_MIN ? INT16_MIN
					     : off);
}

/* What the walk has added since the latest measurement. One that comes sooner
 * tells less. */
static void tracker_learn_walk(struct cpuc_tracker *t,
			       const struct cpuc_calibration *s,
			       const struct cpuc_measurement *next, int32_t off)
{
	const uint64_t every = cpuc_tracker_every(t, s);
	const uint64_t longer = every > next->after ? every : next->after;
	int64_t walk = (int64_t)off * off - next->clock_noise - next->scatter -
		       (int64_t)tracker_unpacked(t->variance);

	walk = walk * (int64_t)(s->hz / 1000) - (int64_t)t->walk * next->after;
	walk = t->walk + walk / (int64_t)(WALK_MEMORY * longer + 1);
	t->walk = walk < WALK_LEAST  ? WALK_LEAST
		  : walk > WALK_MOST ? WALK_MOST
				     : (uint32_t)walk & WALK_MOST;
}

/* The next comes at this spacing, or at the first that is `widest` or more. */
static void tracker_plan(struct cpuc_tracker *t,
			 const struct cpuc_calibration *s, uint64_t widest,
			 uint32_t rarer)
{
	while (rarer > 0 && tracker_spacing(s, rarer - 1) >= widest)
		rarer--;
	t->rarer = rarer & 63;
}

uint32_t cpuc_tracker_update(struct cpuc_tracker *t,
			     const struct cpuc_calibration *s,
			     const struct cpuc_measurement *next, int32_t off)
{
	const int64_t same = (int64_t)off * t->off;
	/* Where the ratio lags behind it is known less well. */
	const uint64_t lag = same > 0 ? (uint64_t)same / LAG_PART : 0;
	const uint64_t before =
		tracker_unpacked(t->variance) + next->grown + lag;
	const uint64_t noise =
		(uint64_t)next->clock_noise +
		(off > 0 ? next->scatter / SCATTER_FASTER : next->scatter);
	const uint64_t gain = (before << 20) / (before + noise);

	tracker_learn_scatter(t, next, off);
	tracker_learn_walk(t, s, next, off);
	t->variance = tracker_packed((int64_t)(noise * gain >> 20));
	tracker_plan(t, s, tracker_widest(t, s), t->rarer + 1);
	return (uint32_t)gain;
}

void cpuc_tracker_step(struct cpuc_tracker *t, const struct cpuc_calibration *s)
{
	t->variance = RATIO_UNKNOWN >> CPUC_VARIANCE_BITS;
	tracker_plan(t, s,
		     (uint64_t)s->window_ticks * MEASUREMENT_STEPPED *
			     MEASUREMENT_MOVING,
		     t->rarer);
}
