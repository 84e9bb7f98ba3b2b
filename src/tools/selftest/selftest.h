/* SPDX-License-Identifier: 0BSD */
/* Types and helpers of all checks of cpucycles-selftest. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stdio.h>
#include "cpucycles.h"

enum outcome {
	GOOD,
	BAD,
	OFF,     /* a wrong rate: bad if it is wrong each time, since something
		    may have disturbed the machine, and a calibrated counter
		    takes a while to follow the core */
	SKIPPED, /* impossible here; the text says why */
};

/* Medians of many short windows. */
struct selftest_rate {
	long long ppm; /* of the right rate */
	long long hz;  /* counts per second */
	int windows;
};

struct selftest {
	struct cpucycles_counter counter; /* under test */
	int ms;     /* that a check may take on an idle machine, about */
	int wait_s; /* the longest wait for 2^32 cycles, in seconds */
	struct selftest_rate base; /* the main thread's, if the check's table
				      entry asks for it */
	char text[336];            /* of the check's line */
};

/* Whether the counter should follow the core's rate. */
static inline bool selftest_follows(const struct selftest *t)
{
	return t->counter.kind_id <= CPUCYCLES_CALIBRATED;
}

/* Whether each core has a count of its own. */
static inline bool selftest_one_core(const struct selftest *t)
{
	return t->counter.kind_id == CPUCYCLES_CORE && !t->counter.per_thread;
}

/* Ends a check: the outcome, and the text of its line. */
#define say(t, outcome, ...) \
	(snprintf((t)->text, sizeof(t)->text, __VA_ARGS__), (outcome))

static inline bool selftest_near(double percent, double tolerance)
{
	return percent > 100 - tolerance && percent < 100 + tolerance;
}

#endif
