/* SPDX-License-Identifier: 0BSD */
/* Cycles per second, by which users divide a count to get seconds, and the rate
 * of the core now. All under the lock, between cpuc_probe_begin and
 * cpuc_probe_end. */
#ifndef CPUC_PERSECOND_H
#define CPUC_PERSECOND_H

#include "../slot.h"
#include "stated_rate.h"

/* The rate for the counter in use; of NULL, the nominal rate that clocks are
 * scaled by. Each is found once a process. */
struct cpuc_rate cpuc_persecond(const struct cpuc_slot *current);

/* The rate of the core that this thread is running on, now: by chains, or by the
 * counter in use if it counts the core. 0 Hz: it cannot be measured. */
struct cpuc_rate cpuc_persecond_now(const struct cpuc_slot *current);

/* The rate of a machine that nothing is known about. */
extern const struct cpuc_rate cpuc_persecond_unknown;

/* An environment variable, unless privileges are raised. */
const char *cpuc_getenv(const char *name);

#endif
