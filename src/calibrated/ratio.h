/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio of core cycles to ticks: the mean of its measurements, and
 * when the next one is due. */
#ifndef CPUC_RATIO_H
#define CPUC_RATIO_H

#include "calibration.h"

/* No time between two measurements, or looks, is longer: ticks. */
#define CPUC_RATIO_LONG (cpuc_calibration.hz / 16)

/* Ticks to the next measurement in a fresh thread, or after a pause. */
#define CPUC_RATIO_SOON (uint32_t)(cpuc_calibration.hz / 20000)

/* All zero before the first measurement. Times are in ticks, differences of
 * ratios in 2^-20. */
struct cpuc_ratio {
	uint64_t mean;   /* in use */
	uint64_t last;   /* measured */
	uint64_t before; /* the mean before the latest step, */
	uint64_t since;  /* the tick of the latest look or measurement, */
	uint32_t until;  /* and the time from it to the next, */
	uint32_t left;   /* and to the next measurement */
	uint32_t wait;   /* usual time between measurements at present */
	uint32_t still;  /* since the ratio's latest step */
	uint32_t cost;   /* of a look, with what is around it */
	uint32_t noise;  /* from one measurement to the next */
	int16_t side;    /* measurements in a row above the mean, or below */
	uint16_t known;  /* measurements in the mean */
	uint16_t known_before;   /* and in that one */
	struct cpuc_brief brief; /* of looks */
};

/* Looks, or measures, at tick t. Whether it was a look. */
bool cpuc_ratio_update(struct cpuc_ratio *r, uint64_t t);

/* That look took so many ticks, with all that its caller did for it. */
static inline void cpuc_ratio_took(struct cpuc_ratio *r, uint64_t ticks)
{
	uint64_t more = ticks - r->cost;

	if (r->cost == 0 || ticks < r->cost)
		r->cost = (uint32_t)(ticks < CPUC_RATIO_SOON ? ticks
							     : CPUC_RATIO_SOON);
	else
		r->cost += (uint32_t)(more < r->cost ? more : r->cost) / 16;
}

/* The thread is on another CPU at tick t: measures soon. */
void cpuc_ratio_moved(struct cpuc_ratio *r, uint64_t t);

/* The ticks from t to the next look or measurement; 0: it is due. */
static inline uint32_t cpuc_ratio_left(const struct cpuc_ratio *r, uint64_t t)
{
	return t - r->since < r->until ? r->until - (uint32_t)(t - r->since)
				       : 0;
}

/* ticks * ratio for any number of ticks, without 128-bit arithmetic, and for
 * few ticks exactly as the fast path does it. */
static inline uint64_t cpuc_ratio_scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

#endif
