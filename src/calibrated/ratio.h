/* SPDX-License-Identifier: 0BSD */
/* A thread's ratio of core cycles to ticks. */
#ifndef CPUC_RATIO_H
#define CPUC_RATIO_H

#include "tracker.h"
#include "window.h"

/* Times in ticks, overheads in cycles << CPUC_OVERHEAD_BITS, the ratio in
 * cycles per tick << CPUC_RATIO_BITS. The guard changes it; a glimpse outside
 * only glimpse_in and glimpse_drift. */
struct cpuc_ratio {
	uint64_t estimate;    /* the ratio in use */
	uint32_t glimpse_in;  /* from the interval's beginning to the next */
	uint32_t measure_in;  /* the same for a measurement */
	uint32_t stepped_ago; /* since the latest step */
	int32_t glimpse_overhead; /* cpuc_run_glimpse() at this ratio */
	int32_t glimpse_drift; /* GLIMPSE_MEAN times the mean distance to it */
	int32_t overhead[2]; /* short measurements', long ones': ratio_run() */
	struct cpuc_tracker tracker;
	uint16_t cpu; /* at the latest closing: by count_observe() */
};

/* A thread's first count, at tick t: by the process's first ratio. */
void cpuc_ratio_first(struct cpuc_ratio *r, uint64_t t);

/* The thread is on another CPU, where windows may take another time: a glimpse
 * is due at once. */
void cpuc_ratio_moved(struct cpuc_ratio *r);

/* The ticks from a glimpse to the next. */
uint32_t cpuc_ratio_glimpse_every(const struct cpuc_ratio *r);

/* Runs a glimpse: whether it shows the ratio in use. Changes only the drift. */
bool cpuc_ratio_glimpse(struct cpuc_ratio *r);

/* What was seen of the rate. All but the first take long. */
enum cpuc_ratio_seen {
	CPUC_RATIO_STANDS,   /* by a glimpse; or none was due */
	CPUC_RATIO_UNCLEAR,  /* a glimpse was off, windows confirm no step */
	CPUC_RATIO_MEASURED, /* by a measurement; the ratio may follow it */
	CPUC_RATIO_STEPPED,  /* to another ratio, by windows that agree */
};

/* At the end of an interval of `passed` ticks runs a glimpse, if that is due or
 * a measurement, and the windows that follow from what it shows. For `worked`
 * of the ticks the thread ran, and no count has them yet. */
enum cpuc_ratio_seen cpuc_ratio_update(struct cpuc_ratio *r, uint64_t passed,
				       uint64_t worked);

#endif
