/* SPDX-License-Identifier: 0BSD */
/* The tracker: how far a thread's ratio may be off, hence how far it follows a
 * measurement and when the next one is due. Pure. */
#ifndef CPUC_TRACKER_H
#define CPUC_TRACKER_H

#include <stdbool.h>
#include <stdint.h>
#include "calibration.h"

/* A scalar Kalman filter of a random walk. Differences of ratios are in 2^-20;
 * variances are their squares, in 16 bits without the last CPUC_VARIANCE_BITS.
 * Packed, as a thread's state may take 160 bytes. */
struct cpuc_tracker {
	uint32_t walk : 26; /* the variance that a millisecond adds: learnt
			     * (the process noise); 0: nothing is measured */
	uint32_t rarer : 6; /* the next: after MEASUREMENT_SOON * 1.5^rarer */
	uint16_t variance;  /* of the ratio after the latest measurement */
	uint16_t scatter;   /* of short measurements, beyond the clock's noise:
			     * learnt */
	int16_t off; /* the latest measurement, from the ratio in use (the
		      * innovation) */
} __attribute__((packed, aligned(2)));

#define CPUC_VARIANCE_BITS 8

struct cpuc_measurement {
	uint32_t length;      /* in windows of the calibration's length */
	uint32_t clock_noise; /* its variance by the clock, */
	uint32_t scatter;     /* and by what else scatters it */
	uint32_t grown;       /* what the walk has added since the latest one */
	uint32_t after;       /* ticks, from that one */
};

/* The ticks from the latest measurement to the next. */
uint32_t cpuc_tracker_every(const struct cpuc_tracker *t,
			    const struct cpuc_calibration *s);

/* Whether it walks so fast that measurements are as close as they may be. */
bool cpuc_tracker_walks(const struct cpuc_tracker *t);

/* The next measurement's length, in windows. */
uint32_t cpuc_tracker_length(const struct cpuc_tracker *t,
			     const struct cpuc_calibration *s);

/* A measurement so many ticks after the latest one, whose overhead is the mean
 * of so many windows'. */
struct cpuc_measurement cpuc_tracker_next(const struct cpuc_tracker *t,
					  const struct cpuc_calibration *s,
					  uint64_t after, uint32_t overheads);

/* Whether a measurement is off by more than the clock's noise, the walk and
 * what is known explain; and whether windows that show a step of so much may
 * be off as they scatter. */
bool cpuc_tracker_far(const struct cpuc_tracker *t,
		      const struct cpuc_measurement *next, uint32_t off);
bool cpuc_tracker_scattered(const struct cpuc_tracker *t, uint32_t off);

/* Learns from a measurement, which is `off`: less than 0 if the core is slower.
 * Returns the part of the way that the ratio is to go, in 2^-20. */
uint32_t cpuc_tracker_update(struct cpuc_tracker *t,
			     const struct cpuc_calibration *s,
			     const struct cpuc_measurement *next, int32_t off);

/* The ratio is another one, of windows. That tells nothing of the walk, but the
 * next measurement comes soon. */
void cpuc_tracker_step(struct cpuc_tracker *t,
		       const struct cpuc_calibration *s);

#endif
