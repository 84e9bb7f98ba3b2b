/* SPDX-License-Identifier: 0BSD */
/* The counts of a thread and of the signal handlers that interrupt it, each
 * held against all that ended before it began. */
#ifndef LEVELS_H
#define LEVELS_H

#include <signal.h>
#include "cpucycles.h"

#define LEVELS 8 /* of handlers that interrupt each other, and below them */

/* The history of a thread at one level: of the code of main, of a handler, of a
 * handler that interrupted this, and so on. Only code of this level writes it.
 * It turns to the other copy when that is whole, so that a handler can read it.
 */
struct level {
	volatile long long highest[2];
	volatile sig_atomic_t copy;
	volatile unsigned long counts, back, signals;
	volatile long long fall;
};

static __thread struct level level[LEVELS];
static __thread volatile sig_atomic_t depth;

/* The highest count of all calls that have ended. */
static long long highest(void)
{
	long long top = level[0].highest[level[0].copy], here;
	int i;

	for (i = 1; i < LEVELS; i++) {
		here = level[i].highest[level[i].copy];
		top = here > top ? here : top;
	}
	return top;
}

static void step(void)
{
	struct level *here = &level[depth];
	long long before = highest(), now = cpucycles();

	here->counts++;
	if (now < before) {
		here->back++;
		if (before - now > here->fall)
			here->fall = before - now;
		return;
	}
	here->highest[!here->copy] = now;
	here->copy = !here->copy;
}

static unsigned long signals(void)
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < LEVELS; i++)
		n += level[i].signals;
	return n;
}

#endif
