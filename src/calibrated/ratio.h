/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio of core cycles to ticks. */
#ifndef CPUC_RATIO_H
#define CPUC_RATIO_H

#include "window.h"

/* Times in ticks, glimpses in cycles << CPUC_OVERHEAD_BITS. The guard changes
 * it; a glimpse outside only glimpse_in and glimpse_drift. */
struct cpuc_ratio {
	uint64_t mean;          /* in use: cycles per tick << CPUC_RATIO_BITS */
	uint32_t glimpse_in;    /* from the interval's beginning to the next */
	uint32_t glimpse_every; /* and from one to the next */
	uint32_t measure_in;    /* from the beginning to a measurement */
	uint32_t measure_every;
	uint32_t stepped_ago;          /* the latest step */
	struct cpuc_overhead overhead; /* of windows that measure */
	int32_t glimpse_overhead; /* cpuc_glimpse_overhead() at this ratio */
	int32_t glimpse_drift; /* GLIMPSE_MEAN times the mean distance to it */
	bool known;            /* the mean has a measurement in it */
	uint16_t cpu;          /* at the latest closing */
};

/* A thread's first count, at tick t: by the process's first ratio. */
void cpuc_ratio_first(struct cpuc_ratio *r, uint64_t t);

/* Whether a glimpse shows the ratio in use. Changes only the drift. */
bool cpuc_ratio_glimpse(struct cpuc_ratio *r);

/* A glimpse or a measurement, if one is due `passed` ticks after the latest
 * call; of these `worked` are in no count yet. True if that took long. */
bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed, uint64_t worked);

/* ticks * ratio for any number of ticks, without 128-bit arithmetic, and for
 * few ticks exactly as the fast path does it. */
static inline uint64_t cpuc_ratio_scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

#endif
