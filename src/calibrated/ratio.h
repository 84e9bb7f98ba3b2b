/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio of core cycles to ticks: the mean of its measurements, and
 * when the next one is due. */
#ifndef CPUC_RATIO_H
#define CPUC_RATIO_H

#include "window.h"

/* Times in ticks, differences of ratios in 2^-20. */
struct cpuc_ratio {
	uint64_t mean;  /* in use */
	uint32_t until; /* the next look or measurement */
	uint32_t left;  /* until the next measurement */
	uint32_t wait;  /* the latest time from one to the next */
	uint32_t still; /* since the ratio's latest step */
	struct cpuc_overhead measuring, looking; /* of windows for that */
	uint16_t noise; /* of measurements: from one innovation to the next */
	int16_t last;   /* innovation */
	bool known;     /* the mean is this thread's own */
	uint16_t cpu;   /* on which these were measured */
};

/* A thread's first count, at tick t: by the process's first ratio. */
void cpuc_ratio_first(struct cpuc_ratio *r, uint64_t t);

/* Looks or measures, if that is due so many ticks after the latest call. True
 * if that took long: a measurement, or a look that differed. */
bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed);

/* The thread is on another CPU: the next look comes soon. */
void cpuc_ratio_migrated(struct cpuc_ratio *r);

/* ticks * ratio for any number of ticks, without 128-bit arithmetic, and for
 * few ticks exactly as the fast path does it. */
static inline uint64_t cpuc_ratio_scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

#endif
