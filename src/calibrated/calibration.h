/* SPDX-License-Identifier: 0BSD */
/* The calibration: what the process knows of its chains, by the clock outside
 * the core that times them. */
#ifndef CPUC_CALIBRATION_H
#define CPUC_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

struct cpuc_chain;
struct cpuc_clock;

/* Ratios are core cycles per tick, in fixed point with so many fraction bits:
 * 32 make the shift free on 32-bit hosts. */
#define CPUC_RATIO_BITS 32

/* A core's rate measured outside these limits, in Hz, is not believed. */
#define CPUC_CORE_HZ_MIN UINT64_C(100000000)
#define CPUC_CORE_HZ_MAX UINT64_C(10000000000)

/* Written once, by cpuc_calibrate(), and constant when `clock` is not NULL, but
 * for the last two: thread_clock.c changes these, atomically, in any thread. */
struct cpuc_calibration {
	/* NULL: not calibrated. Stored last, with release order; who has loaded
	 * it with acquire order sees all below. */
	const struct cpuc_clock *clock;
	const struct cpuc_chain *chain; /* of all windows and glimpses */
	uint64_t hz;                    /* the clock's ticks per second */
	uint64_t ratio;                 /* the first */
	uint64_t measured_at;           /* the tick of that */

	/* A window, at that ratio. */
	uint32_t turns;        /* of its short run, as of its long one */
	uint32_t window_ticks; /* its long run less its short one */
	uint32_t grain;        /* the clock's, in 2^-20 of that */

	/* A glimpse. */
	uint32_t glimpse_turns;
	uint32_t glimpse_grain;   /* the clock's, in 2^-20 of its links */
	int32_t glimpse_overhead; /* at that ratio, as cpuc_run_glimpse() */
	uint32_t glimpse_cost; /* ticks, with all that a count does for one */

	uint32_t switch_hides; /* ticks, of what the thread ran */
	bool thread_clock; /* false: there is none, or it was seen to leap */
	uint8_t stood;     /* watches in which it stood, and did not leap */
};

extern struct cpuc_calibration cpuc_calibration;

#endif
