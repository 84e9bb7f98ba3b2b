/* SPDX-License-Identifier: 0BSD */
/* How far a ratio may be off, and when the next look at it is due: pure. */
#ifndef CPUC_TRACKER_H
#define CPUC_TRACKER_H

#include "calibration.h"

/* A scalar Kalman filter of a random walk. Variances are in 2^-40 of the
 * ratio's square. */
struct cpuc_tracker {
	uint32_t variance; /* of the ratio after the latest look */
	uint32_t walk;     /* what it grows by in a millisecond: learnt */
	uint32_t every;    /* ticks from a look to the next */
};

struct cpuc_look {
	uint32_t turns; /* of a window */
	uint32_t noise; /* its variance */
	uint32_t grown; /* what the walk adds in `every` */
};

/* The look that is due. */
struct cpuc_look cpuc_tracker_look(const struct cpuc_tracker *t,
				   const struct cpuc_calibration *s);

/* Whether it is off, by so many 2^-20, by more than noise and walk explain. */
bool cpuc_tracker_far(const struct cpuc_tracker *t,
		      const struct cpuc_look *look, uint32_t off);

/* Learns from a look that is `off`, and plans the next one. Returns the part of
 * the way that the ratio is to go, in 2^-20. */
uint32_t cpuc_tracker_update(struct cpuc_tracker *t,
			     const struct cpuc_calibration *s,
			     const struct cpuc_look *look, uint32_t off);

/* The ratio has stepped, and is known with this variance: of the walk a step
 * tells nothing, but the next look comes soon. */
void cpuc_tracker_step(struct cpuc_tracker *t, const struct cpuc_calibration *s,
		       uint32_t variance);

#endif
