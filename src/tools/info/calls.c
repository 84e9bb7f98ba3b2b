/* SPDX-License-Identifier: 0BSD */
/* What the count looks like to a program: its steps from call to call, and its
 * rate. */
#include <config.h>
#include <string.h>
#include <time.h>
#include "calls.h"
#include "cpucycles.h"
#include "../common/stats.h"

#define TRIES 3 /* of which an interrupt rarely hits all */

const struct calls *calls_measure(int n)
{
	static struct calls calls;
	struct calls *c = &calls;
	int round, i;

	c->n = n;
	/* The first round is for the page faults. */
	for (round = 0; round < 2; round++)
		for (i = 0; i <= n; i++)
			c->count[i] = cpucycles();
	for (i = 0; i < n; i++)
		c->diff[i] = c->count[i + 1] - c->count[i];
	memcpy(c->sorted, c->diff, (size_t)n * sizeof *c->diff);
	stats_sort(c->sorted, n);
	c->iqm = stats_iqm(c->sorted, n);
	return c;
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Cycles per tick of the counter in use. */
static double find_tick(void)
{
	const char *name = cpucycles_implementation();
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (!strcmp(c.name, name))
			return c.scaling;
	return 0;
}

/* Counts read just within and just outside the two readings of the clock give
 * bounds that hold whatever either reading costs. The difference of two counts
 * is off by up to a tick, which is microseconds with some counters. */
static struct observed observe_once(long loops, double tick)
{
	struct observed o = {.loops = loops};
	double least, most;
	long long c[4], ns;
	long i;

	c[0] = cpucycles();
	ns = now_ns();
	c[1] = cpucycles();
	for (i = 0; i < loops; i++)
		__asm__ __volatile__("");
	c[2] = cpucycles();
	ns = now_ns() - ns;
	c[3] = cpucycles();
	if (ns <= 0)
		return o;
	o.ns = ns;
	least = (double)(c[2] - c[1]) - tick;
	most = (double)(c[3] - c[0]) + tick;
	o.low = least > 0 ? least * 1e9 / (double)ns : 0;
	o.high = most * 1e9 / (double)ns;
	return o;
}

void observe(struct observed o[OBSERVED])
{
	double tick = find_tick();
	struct observed again;
	int i, try;

	for (i = 0; i < OBSERVED; i++) {
		o[i] = observe_once(8192L << i, tick);
		for (try = 1; try < TRIES; try++) {
			again = observe_once(8192L << i, tick);
			if (again.ns != 0 &&
			    (o[i].ns == 0 ||
			     again.high - again.low < o[i].high - o[i].low))
				o[i] = again;
		}
	}
}
