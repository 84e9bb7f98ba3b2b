/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio of core cycles to ticks: the mean of its measurements, and
 * when the next one is due. */
#ifndef CPUC_RATIO_H
#define CPUC_RATIO_H

#include "calibration.h"

/* Ticks from one measurement to the next, at most: a change is seen in 100 ms.
 */
#define CPUC_RATIO_LONG (cpuc_calibration.hz / 16)

/* All zero before the first measurement. */
struct cpuc_ratio {
	uint64_t mean;
	uint64_t last;  /* measured */
	uint32_t noise; /* from one to the next, 2^-20 */
	int16_t side;   /* so many in a row above the mean, or below */
	uint16_t known; /* measurements in the mean, up to 16 */
	uint64_t since; /* tick of the last measurement, */
	uint32_t until; /* and ticks from it to the next one, */
	uint32_t wait;  /* about */
};

/* Measures at tick t. After a pause, or a change, soon again. */
void cpuc_ratio_measure(struct cpuc_ratio *r, uint64_t t, bool pause);

/* The usual ticks from one measurement to the next. */
uint32_t cpuc_ratio_usual(void);

/* The thread is on another CPU: measures soon. */
void cpuc_ratio_moved(struct cpuc_ratio *r, uint64_t t);

/* The ticks from t to the next measurement; 0: it is due. */
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
