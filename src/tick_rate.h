/* SPDX-License-Identifier: 0BSD */
/* Cycles per tick: nominal cycles from the ticks of a clock. */
#ifndef CPUC_TICK_RATE_H
#define CPUC_TICK_RATE_H

#include "slot.h"

/* What a selection takes as given; tests replace it. */
struct cpuc_world {
	uint64_t (*persecond)(void); /* nominal, Hz; slow the first time */
	uint64_t (*now_ns)(void);    /* a clock that never goes back */
};

/* Settles slot->scale, and slot->rate where it can be measured. 0, or a
 * negative errno with the reason kept. */
int cpuc_settle_scale(struct cpuc_slot *slot, const struct cpuc_world *world);

/* The clock that a counter reads, before calibration. */
long long (*cpuc_clock_of(const struct cpuc_counter *c))(void);

#endif
