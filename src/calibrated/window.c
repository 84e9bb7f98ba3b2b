/* SPDX-License-Identifier: 0BSD */
/* A window measures the ratio by both of its runs: what they take beyond their
 * links, their overhead, is known from earlier windows. */
#include <config.h>
#include <stdlib.h>
#include "constants.h"
#include "window.h"

#define WINDOW_RUNS (CPUC_LONG_RUN + 1)       /* in short runs */
#define WINDOW_DIFFERENCE (CPUC_LONG_RUN - 1) /* of a window's two runs */

static uint64_t window_ratio(const struct cpuc_calibration *s, uint64_t cycles,
			     uint64_t ticks)
{
	uint64_t ratio;

	if (ticks == 0)
		return 0;
	ratio = (cycles << (CPUC_RATIO_BITS - CPUC_OVERHEAD_BITS)) / ticks;
	return cpuc_core_hz(s, ratio) ? ratio : 0;
}

/* Nine short runs less both are 7o (calibration.h); 2o, of both, is kept. */
static void window_learn(struct cpuc_overhead *o, const uint64_t stamp[3],
			 uint64_t ratio)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	const int64_t near =
		(int64_t)cpuc_links_cycles(s, s->turns) / WINDOW_UNDISTURBED;
	int64_t ticks = (int64_t)(WINDOW_RUNS * (stamp[1] - stamp[0]) -
				  (stamp[2] - stamp[0]));
	int64_t cycles = ticks * (int64_t)(ratio >> (CPUC_RATIO_BITS / 2)) /
			 (WINDOW_DIFFERENCE
			  << (CPUC_RATIO_BITS / 2 - CPUC_OVERHEAD_BITS - 1));

	/* This window was disturbed, or the earlier ones were: forget some. */
	if (o->known > 0 && llabs(cycles - o->cycles) > near) {
		o->known = (uint16_t)(3 * o->known / 4);
		return;
	}
	if (o->known < WINDOW_OVERHEADS)
		o->known++;
	o->cycles += (int32_t)((cycles - o->cycles) / o->known);
}

uint64_t cpuc_window(struct cpuc_overhead *o, uint32_t turns,
		     uint64_t near_ratio)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	uint64_t stamp[3], links, ratio;

	turns = cpuc_calibration_turns(s, turns, near_ratio);
	s->chain->window(turns, stamp);
	links = cpuc_links_cycles(s, turns);
	ratio = window_ratio(s, links * WINDOW_DIFFERENCE,
			     (stamp[2] - stamp[1]) - (stamp[1] - stamp[0]));
	/* The clock jumped, or the thread was interrupted for long. */
	if (ratio == 0)
		return 0;
	window_learn(o, stamp, ratio);
	if (o->known == 0)
		return ratio;
	return window_ratio(s,
			    links * WINDOW_RUNS + (uint64_t)(int64_t)o->cycles,
			    stamp[2] - stamp[0]);
}
