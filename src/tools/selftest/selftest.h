/* SPDX-License-Identifier: 0BSD */
/* The checks of cpucycles-selftest, and what they share. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include <stdio.h>
#include "cpucycles.h"

enum outcome {
	GOOD,
	BAD,
	OFF,     /* a wrong rate: bad if each time, as it may be disturbed */
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
	struct selftest_rate base; /* the main thread's, if asked for */
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

static inline bool selftest_near(double percent, double tolerance)
{
	return percent > 100 - tolerance && percent < 100 + tolerance;
}

/* Ends a check: the outcome, and the text of its line. */
#define say(t, outcome, ...) \
	(snprintf((t)->text, sizeof(t)->text, __VA_ARGS__), (outcome))

/* Keeps the core busy for tens of microseconds, in user mode. */
void counting_work(void);

/* Waits until the count is above `last`. By how much; 0: not in a second. */
long long counting_step(long long last);

struct counting_order {
	long long last;  /* count: the first has to be above it */
	long long calls; /* made in all */
	long long back;  /* counts below the one before */
	long long worst; /* step back */
};

/* Calls cpucycles() in a loop for at least so long. */
void counting_order(struct counting_order *o, long long ns);

/* Measures this thread's rate, for about so long. The right one is the core's
 * or, if it need not be, cpucycles_persecond(). False: that is not to be had.
 */
bool counting_rate(const struct selftest *t, int ms, struct selftest_rate *r);

/* How a thread counts: order, rate, width, and code of known length. */
enum outcome counting_monotone(struct selftest *t);
enum outcome counting_advances(struct selftest *t);
enum outcome counting_clock(struct selftest *t);
enum outcome counting_wrap32(struct selftest *t);
enum outcome chain_check(struct selftest *t);
enum outcome chain_instructions(struct selftest *t);

/* The count in other threads, in a child process, on other CPUs. */
enum outcome elsewhere_threads(struct selftest *t);
enum outcome elsewhere_sharing(struct selftest *t);
enum outcome elsewhere_fork(struct selftest *t);
enum outcome elsewhere_migration(struct selftest *t);

#endif
