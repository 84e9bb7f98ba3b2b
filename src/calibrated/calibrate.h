/* SPDX-License-Identifier: 0BSD */
/* The calibration of the process: which chains can be trusted, the first ratio,
 * and how long windows and glimpses are. */
#ifndef CPUC_CALIBRATE_H
#define CPUC_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

struct cpuc_slot;

/* Calibrates by a clock that has chains, once a process: 0, or -errno and the
 * reason. Runs these, and delays between rounds. Under the lock; may fault. */
int cpuc_calibrate(struct cpuc_slot *slot);

bool cpuc_calibration_done(void);

/* This thread's core's rate now, Hz, by a few windows; 0: they disagree. */
uint64_t cpuc_run_core_hz(void);

#endif
