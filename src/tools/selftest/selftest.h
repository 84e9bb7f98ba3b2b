/* SPDX-License-Identifier: 0BSD */
/* What the checks of cpucycles-selftest share. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>
#include "cpucycles.h"

enum outcome {
	GOOD,
	BAD,
	OFF,     /* bad, unless it is better when the check is made again: the
		    machine may have been disturbed, or the core's rate have
		    changed, which a calibrated counter need not see at once */
	SKIPPED, /* this machine cannot run it; the text says why */
};

struct selftest {
	/* The counter that is tested. */
	struct cpucycles_counter counter;
	bool follows; /* the core's rate: it is core or calibrated */
	bool threads; /* each thread has a count of its own */
	bool cores;   /* each core has */

	enum { QUICK, DEFAULT, LONG } effort;
	int ms; /* what a check may take on an idle machine, about */

	/* How the main thread counts, for comparison with others: as in struct
	 * selftest_rate; 0 until it has been measured. */
	long long base_ppm;

	char text[256]; /* of the check's line */
};

struct check {
	const char *name; /* part of the interface: never changes */
	const char *what; /* it checks, for people */
	enum outcome (*run)(struct selftest *self);
};

/* Ends with one whose name is NULL. */
extern const struct check selftest_checks[];

/* Makes the checks of these names, or all if there are none. An exit status. */
int selftest_run(struct selftest *self, char *const *names);

enum outcome selftest_monotone(struct selftest *self);
enum outcome selftest_advances(struct selftest *self);
enum outcome selftest_clock(struct selftest *self);
enum outcome selftest_chain(struct selftest *self);
enum outcome selftest_threads(struct selftest *self);
enum outcome selftest_fork(struct selftest *self);
enum outcome selftest_migration(struct selftest *self);
enum outcome selftest_wrap32(struct selftest *self);
enum outcome selftest_wrap48(struct selftest *self);

/* The last statement of a check: its outcome, and the text of its line. */
enum outcome selftest_say(struct selftest *self, enum outcome outcome,
			  const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* CLOCK_MONOTONIC, in nanoseconds. */
long long selftest_ns(void);

/* Keeps the core busy for some microseconds, in user mode. */
void selftest_work(void);

/* Counts until the count is above `last`, or a second has passed; the count. */
long long selftest_await(long long last);

/* How many counts the kind and CLOCK_MONOTONIC together let expect in a second,
 * now and on this core: the core's observed rate if the count follows that, and
 * cpucycles_persecond() if not. 0: cannot be found out. */
long long selftest_expected(const struct selftest *self);

/* The medians of many short windows. */
struct selftest_rate {
	long long ppm; /* counted per million expected */
	long long hz;  /* counted per second */
	int windows;
};

/* Measures in the calling thread for so many milliseconds, or longer where that
 * gives too few windows. False when the expected rate cannot be found out. */
bool selftest_rate(const struct selftest *self, int ms,
		   struct selftest_rate *rate);

/* Whether a thread's rate is that of the main thread, whether right or wrong:
 * each check looks for one kind of mistake. */
bool selftest_same(struct selftest *self, const struct selftest_rate *rate);

/* The main thread's, settled before there are others. False as above. */
bool selftest_base(struct selftest *self);

#endif
