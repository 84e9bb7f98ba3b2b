/* SPDX-License-Identifier: 0BSD */
/* Cycles per second: what users divide a count by to get seconds. */
#ifndef CPUC_PERSECOND_H
#define CPUC_PERSECOND_H

#include "slot.h"

struct cpuc_persecond {
	uint64_t hz;
	const char *source; /* static storage; one of those in cpucycles(7) */
};

/* The rate for the counter in use, `current`; while none is, the nominal rate
 * that counters are scaled by. Each is settled once a process. Under the lock,
 * between cpuc_probe_begin and cpuc_probe_end. */
struct cpuc_persecond cpuc_persecond_of(struct cpuc_slot *slots, size_t n,
					const struct cpuc_slot *current);

/* The rate of a machine that nothing is known about. */
extern const struct cpuc_persecond cpuc_persecond_unknown;

/* An environment variable, unless privileges are raised. */
const char *cpuc_getenv(const char *name);

#endif
