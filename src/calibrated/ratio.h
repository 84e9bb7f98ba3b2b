/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio of core cycles to ticks: the mean of its measurements, and
 * when the next one is due. */
#ifndef CPUC_RATIO_H
#define CPUC_RATIO_H

#include "calibration.h"

/* No time between two looks is longer: ticks. */
#define CPUC_RATIO_LONG (cpuc_calibration.hz / 16)

/* Ticks to the next measurement in a fresh thread, or after a move. */
#define CPUC_RATIO_SOON (uint32_t)(cpuc_calibration.hz / 20000)

/* All zero before the first measurement. Times are in ticks, differences of
 * ratios in 2^-20. */
struct cpuc_ratio {
	uint64_t mean;  /* in use */
	uint32_t until; /* the next look or measurement */
	uint32_t left;  /* until the next measurement */
	uint32_t wait;  /* usual time between measurements at present */
	uint32_t still; /* since the ratio's latest step */
	struct cpuc_overhead measuring, looking; /* of windows for that */
	uint16_t noise; /* of measurements: from one innovation to the next */
	int16_t last;   /* innovation */
	uint8_t known;  /* measurements in the mean */
	uint16_t cpu;   /* that these were made on */
};

/* Looks, or measures, at tick t if that is due, so many ticks after the latest
 * call. A look that shows a step measures. */
enum cpuc_ratio_done {
	CPUC_RATIO_NOTHING,
	CPUC_RATIO_LOOKED,
	CPUC_RATIO_MEASURED
};

enum cpuc_ratio_done cpuc_ratio_update(struct cpuc_ratio *r, uint64_t t,
				       uint64_t passed);

/* The ticks of a look, with all that is around it. */
uint32_t cpuc_ratio_cost(void);

/* That look took so many ticks, with all that its caller did for it. */
void cpuc_ratio_took(uint64_t ticks);

/* The thread is on another CPU: measures soon. */
void cpuc_ratio_moved(struct cpuc_ratio *r);

/* ticks * ratio for any number of ticks, without 128-bit arithmetic, and for
 * few ticks exactly as the fast path does it. */
static inline uint64_t cpuc_ratio_scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

#endif
