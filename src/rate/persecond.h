/* SPDX-License-Identifier: 0BSD */
/* Cycles per second, by which users divide a count to get seconds. The first
 * and the third function: under the lock, with the probe open. */
#ifndef CPUC_PERSECOND_H
#define CPUC_PERSECOND_H

#include "../slot.h"
#include "stated_rate.h"

/* The rate for the counter in use; with NULL, the nominal rate to which clocks
 * are scaled. Each is found once per process. */
struct cpuc_rate cpuc_persecond(const struct cpuc_slot *current);

/* The same, once it is known, from any thread; NULL: it is not yet. */
const struct cpuc_rate *cpuc_persecond_known(const struct cpuc_slot *current);

/* The rate now of the core that this thread is running on: measured by chains,
 * or by the counter in use if that counts core cycles. 0 Hz: it cannot be. */
struct cpuc_rate cpuc_persecond_now(const struct cpuc_slot *current);

extern const struct cpuc_rate cpuc_persecond_unknown;

#endif
