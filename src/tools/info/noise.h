/* SPDX-License-Identifier: 0BSD */
/* What disturbs timings here now, as noise.c measures and noise_report.c prints
 * it. */
#ifndef CPUC_TOOLS_NOISE_H
#define CPUC_TOOLS_NOISE_H

#include <stdbool.h>
#include "info.h"
#include "../common/rate_steps.h"
#include "../common/system.h"

#define NOISE_LIMIT 100 /* 1/10000: a worse verdict is a finding */

/* A line of the report each. */
enum {
	NOISE_INTERRUPTS = GAPS_OTHER,
	NOISE_PREEMPTION = GAPS_THREADS,
	NOISE_STEAL,
	NOISE_DITHER,
	NOISE_RATE,
	NOISE_GOVERNOR,
	NOISE_TURBO,
	NOISE_SMT,
	NOISE_VERDICT,
	NOISE_ITEMS
};

/* Shares are parts of 1; what is not known is < 0. */
struct noise {
	struct gaps gaps[GAPS_KINDS];
	double steal;  /* of the time when CPUs had work */
	double dither; /* the middle half of windows, of their median */
	double worst;  /* the same, in the batch where it is widest */
	double hz;     /* of the core */
	struct rate_summary steps; /* of that, where levels last; else < 0 */
	double wander[2];          /* by how much it changes in 1 and 10 ms */
	struct system system;
	double visible; /* the smallest difference to believe, in 1/10000, of
			   a chain and independent instructions in turn, */
	double apart;   /* and of the worse of the two, one after the other */
	bool coarse;    /* the step of the count alone is more than 1% */
};

/* Takes a second or two. */
void noise_measure(struct noise *n);

#endif
