/* SPDX-License-Identifier: 0BSD */
/* Steps of the core's rate, found in the lengths of windows of equal work. */
#ifndef RATE_STEPS_H
#define RATE_STEPS_H

#define RATE_STEPS_MOST 4096 /* of which size and time are recorded */

struct rate_steps {
	long long level, begun; /* a window's length, and since when; or 0 */
	long long other, since; /* windows in a row with another length: the
				   first one, when it began, */
	int off;                /* and how many */
	long long first, last;  /* when the first window began, and the last */
	int n;                  /* steps; and of the first ones: */
	long long size[RATE_STEPS_MOST];   /* 1/10000 of the level before */
	long long lasted[RATE_STEPS_MOST]; /* ns for which that lasted */
};

/* The result; all 0 if there was no step. */
struct rate_summary {
	double persecond; /* steps */
	double size;      /* the median; a part of 1 */
	double lasted;    /* the median time from step to step, in seconds */
};

/* The step of a clock, or the time of a reading if that is longer. */
long long rate_steps_grain(long long (*clock)(void));

/* Adds a window that began at so many ns and took `length`, in any unit, by a
 * clock that has steps of `grain`. *s is all zero before the first one. */
void rate_steps_add(struct rate_steps *s, long long ns, long long length,
		    long long grain);

/* Of all windows; sorts what is recorded. */
struct rate_summary rate_steps_sum(struct rate_steps *s);

#endif
