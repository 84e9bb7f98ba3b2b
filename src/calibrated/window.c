/* SPDX-License-Identifier: 0BSD */
/* A window measures the ratio by both of its runs: what they take beyond their
 * links, their overhead, is known from earlier windows. A glimpse times the
 * short run alone: its overhead seems to change when the ratio does. */
#include <config.h>
#include <stdlib.h>
#include "constants.h"
#include "window.h"

#define WINDOW_RUNS (CPUC_LONG_RUN + 1)       /* in short runs */
#define WINDOW_DIFFERENCE (CPUC_LONG_RUN - 1) /* of a window's two runs */
#define GLIMPSE_MAX (1 << 28)                 /* sums of these fit in 32 bits */

uint64_t cpuc_core_hz(const struct cpuc_calibration *s, uint64_t ratio)
{
	/* In 64 bits: 16 bits off one factor, 8 off the other. */
	const uint64_t hz = (ratio >> 16) * (s->hz >> 8) >> 8;

	return hz >= CPUC_CORE_HZ_MIN && hz <= CPUC_CORE_HZ_MAX ? hz : 0;
}

uint32_t cpuc_window_turns(const struct cpuc_calibration *s, uint32_t turns,
			   uint64_t near_ratio)
{
	const uint64_t by = s->ratio >> 16;
	uint64_t n = (turns * (near_ratio >> 16) + by / 2) / by;

	return n > 0 ? (uint32_t)n : 1;
}

uint64_t cpuc_links_cycles(const struct cpuc_calibration *s, uint32_t turns)
{
	return (uint64_t)s->chain->cycles * turns << CPUC_OVERHEAD_BITS;
}

int32_t cpuc_run_glimpse(const struct cpuc_calibration *s, uint64_t ratio)
{
	const uint32_t turns = cpuc_window_turns(s, s->glimpse_turns, ratio);
	uint64_t stamp[2], cycles;

	s->chain->glimpse(turns, stamp);
	if (stamp[1] - stamp[0] > GLIMPSE_TICKS_MAX)
		return GLIMPSE_MAX;
	cycles = (stamp[1] - stamp[0]) * (ratio >> CPUC_RATIO_BITS / 2) >>
		 (CPUC_RATIO_BITS / 2 - CPUC_OVERHEAD_BITS);
	cycles -= cpuc_links_cycles(s, turns);
	return (int64_t)cycles < GLIMPSE_MAX ? (int32_t)cycles : GLIMPSE_MAX;
}

int32_t cpuc_glimpse_part(const struct cpuc_calibration *s, uint64_t ratio,
			  uint32_t part)
{
	uint64_t links = cpuc_links_cycles(
		s, cpuc_window_turns(s, s->glimpse_turns, ratio));

	return (int32_t)(links * part >> 20);
}

static uint64_t window_ratio(const struct cpuc_calibration *s, uint64_t cycles,
			     uint64_t ticks)
{
	uint64_t ratio;

	if (ticks == 0)
		return 0;
	ratio = (cycles << (CPUC_RATIO_BITS - CPUC_OVERHEAD_BITS)) / ticks;
	return cpuc_core_hz(s, ratio) ? ratio : 0;
}

/* Nine short runs less both are 7o (chain.h); 2o, of both, is kept. */
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
	if (o->windows > 0 && llabs(cycles - o->cycles) > near) {
		o->windows = (uint16_t)(3 * o->windows / 4);
		return;
	}
	if (o->windows < WINDOW_OVERHEADS)
		o->windows++;
	o->cycles += (int32_t)((cycles - o->cycles) / o->windows);
}

uint64_t cpuc_run_window(struct cpuc_overhead *o, uint32_t turns,
			 uint64_t near_ratio)
{
	const struct cpuc_calibration *s = &cpuc_calibration;
	uint64_t stamp[3], links, ratio;

	turns = cpuc_window_turns(s, turns, near_ratio);
	s->chain->window(turns, stamp);
	links = cpuc_links_cycles(s, turns);
	ratio = window_ratio(s, links * WINDOW_DIFFERENCE,
			     (stamp[2] - stamp[1]) - (stamp[1] - stamp[0]));
	/* The clock jumped, or the thread was interrupted for long. */
	if (ratio == 0)
		return 0;
	window_learn(o, stamp, ratio);
	if (o->windows == 0)
		return ratio;
	return window_ratio(s,
			    links * WINDOW_RUNS + (uint64_t)(int64_t)o->cycles,
			    stamp[2] - stamp[0]);
}
