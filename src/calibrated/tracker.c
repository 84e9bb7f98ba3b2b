/* SPDX-License-Identifier: 0BSD */
/* The rate is taken for a random walk: while nobody looks, the variance of the
 * ratio grows by `walk` a millisecond. A look of length l has the noise
 * (k / l)^2, so it is weighed by what is known already, and what looks differ
 * by beyond their noise is the walk.
 *
 * Looks each T take a given part of the time, so l is a part of T. The error
 * before a look, walk * T / 2 + noise, is least where the walk from one look to
 * the next is four times the noise (WALK_NOISE): T is made longer or shorter
 * towards that.
 */
#include <config.h>
#include "../slot.h"
#include "constants.h"
#include "tracker.h"

/* A look takes one part in so many of the time: the more, the more it walks. */
static uint32_t tracker_parts(const struct cpuc_tracker *t)
{
	uint32_t parts = LOOK_STILL, walk = t->walk;

	for (; walk > WALK_STILL && parts > LOOK_MOVING; walk /= 4)
		parts /= 2;
	return parts > LOOK_MOVING ? parts : LOOK_MOVING;
}

static uint32_t tracker_within(uint64_t v, uint64_t least, uint64_t most)
{
	return (uint32_t)(v < least ? least : cpuc_min(v, most));
}

CPUC_COLD struct cpuc_look cpuc_tracker_look(const struct cpuc_tracker *t,
					     const struct cpuc_calibration *s)
{
	const uint64_t window = s->window_ticks;
	const uint64_t least = t->walk == 0 ? LOOK_OF_FIRST * window : window;
	const uint64_t length = tracker_within(t->every / tracker_parts(t),
					       least, window * LOOK_LONGEST);
	const uint64_t noise = s->grain * window / (LOOK_GRAINS * length);
	const uint64_t grown = (uint64_t)t->walk * t->every / (s->hz / 1000);

	return (struct cpuc_look){
		.turns = (uint32_t)(s->turns * length / window),
		.noise = tracker_within(noise * noise + LOOK_NOISE * LOOK_NOISE,
					1, UINT32_MAX),
		.grown = tracker_within(grown, 0, UINT32_MAX)};
}

CPUC_COLD bool cpuc_tracker_far(const struct cpuc_tracker *t,
				const struct cpuc_look *look, uint32_t off)
{
	return (uint64_t)off * off / LOOK_FAR >
	       (uint64_t)t->variance + look->grown + look->noise;
}

CPUC_COLD uint32_t cpuc_tracker_update(struct cpuc_tracker *t,
				       const struct cpuc_calibration *s,
				       const struct cpuc_look *look,
				       uint32_t off)
{
	const uint64_t before = (uint64_t)t->variance + look->grown;
	const uint64_t gain = (before << 20) / (before + look->noise);
	const int64_t ms = (int64_t)(s->hz / 1000);
	const uint64_t window = s->window_ticks;
	int64_t walk = (int64_t)off * off - look->noise - t->variance;
	uint64_t every = t->every, parts;

	walk = walk * ms / (int64_t)(every + 1);
	walk = t->walk + (walk - t->walk) / WALK_MEMORY;
	t->walk = walk < WALK_LEAST
			  ? WALK_LEAST
			  : (uint32_t)cpuc_min((uint64_t)walk, UINT32_MAX);
	t->variance = (uint32_t)(look->noise * gain >> 20);
	parts = tracker_parts(t);
	/* After the first looks, and steps, it is less. */
	if (every - every / 4 >= window * parts &&
	    look->grown / WALK_NOISE > look->noise)
		every -= every / 4;
	else
		every += every / 2;
	t->every = (uint32_t)cpuc_min(
		every, cpuc_min(window * LOOK_LONGEST * parts, s->hz));
	return (uint32_t)gain;
}

CPUC_COLD void cpuc_tracker_step(struct cpuc_tracker *t,
				 const struct cpuc_calibration *s,
				 uint32_t variance)
{
	const uint64_t most =
		(uint64_t)s->window_ticks * LOOK_LONGEST * LOOK_MOVING;

	t->variance = variance;
	t->every = tracker_within(t->every + (uint64_t)t->every / 2, 0,
				  cpuc_min(most, s->hz));
}
