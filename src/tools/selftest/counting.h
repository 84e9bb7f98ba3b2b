/* SPDX-License-Identifier: 0BSD */
/* How a thread counts, and checks of it: order, rate, width, and code of known
 * length. */
#ifndef COUNTING_H
#define COUNTING_H

#include "selftest.h"

/* Keeps the core busy for tens of microseconds, in user mode. */
void counting_work(void);

/* Waits until the count is above `last`. Returns by how much, or 0 if that
 * takes more than a second. */
long long counting_step(long long last);

struct counting_order {
	long long last;  /* count: the first has to be above it */
	long long calls; /* made in all */
	long long back;  /* counts below the one before */
	long long worst; /* step back */
};

/* Calls cpucycles() in a loop for at least so long. */
void counting_order(struct counting_order *o, long long ns);

/* Measures this thread's rate, for about so long. The right rate is that of the
 * core, as observed, or cpucycles_persecond() if the counter need not follow
 * the core. False if the core's rate cannot be observed. */
bool counting_rate(const struct selftest *t, int ms, struct selftest_rate *r);

enum outcome counting_monotone(struct selftest *t);
enum outcome counting_advances(struct selftest *t);
enum outcome counting_clock(struct selftest *t);
enum outcome counting_wrap32(struct selftest *t);
enum outcome chain_check(struct selftest *t);
enum outcome chain_instructions(struct selftest *t);

#endif
