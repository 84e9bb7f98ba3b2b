/* SPDX-License-Identifier: 0BSD */
/* Intervals of known work: which were counted too low, or with the time of
 * others in them. */
#ifndef INTERVALS_H
#define INTERVALS_H

#include "load.h"

#include "tools/common/known.h"

#define LOW 0.9      /* a step of the core's rate may hide 5% */
#define GROUP 3      /* intervals that show how fast the core is */
#define GROUPS 64    /* of these within which a new rate is followed */
#define FASTER 0.97  /* of the time that the work took: the core is */
#define AWAY 500e3   /* ns that the thread has not run for */
#define ABOVE 1.01   /* of the thread's clock, and AWAY */
#define BINS 4000    /* thousandths of the work */
#define RATES 100000 /* intervals with preemptions that are remembered */

/* The findings from the intervals of a scenario. */
struct found {
	unsigned long intervals, low, faster, share[BINS + 1];
	unsigned long away;
	double lowest, ran, wall, rate;
	float needs[RATES]; /* cycles per ns, for a count to be no higher */
};

/* The least time that the work took in each of the latest groups of intervals,
 * by the thread's clock. */
struct pace {
	double now, before[GROUPS];
	unsigned n;
};

/* An interval by the clocks, and how often the thread lost its CPU in it. Time
 * that the host takes looks like a pause of the thread, but is no switch. */
struct spent {
	double ran, wall;
	long switches;
};

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static void observe(struct found *f)
{
	double now = (double)cpucycles_observepersecond() / 1e9;

	f->rate = now > f->rate ? now : f->rate;
}

/* A core that has just become faster has its cycles counted too low by as much,
 * until the next look at its rate. Then a whole group took more time not long
 * ago: how much of that the work takes now, at most 1. */
static double follow_pace(struct pace *p, double ran)
{
	double slowest = 0;
	unsigned i;

	for (i = 0; i < GROUPS; i++)
		slowest = p->before[i] > slowest ? p->before[i] : slowest;
	if (p->n % GROUP == 0 || ran < p->now)
		p->now = ran;
	if (++p->n % GROUP == 0)
		p->before[p->n / GROUP % GROUPS] = p->now;
	return ran < slowest ? ran / slowest : 1;
}

static void judge(struct found *f, double count, double pace,
		  const struct spent *spent)
{
	double share = count / KNOWN_CYCLES;
	double bin = share * 1000;

	f->intervals++;
	/* The clocks' readings are in the pace as well, and dilute it. */
	if (share < (pace < FASTER ? LOW * pace * pace : LOW))
		f->low++;
	else if (share < LOW)
		f->faster++;
	if (share < f->lowest)
		f->lowest = share;
	f->share[bin < 0 ? 0 : bin > BINS ? BINS : (int)bin]++;
	if (spent->wall - spent->ran > AWAY && spent->switches > 0) {
		f->needs[f->away % RATES] =
			(float)(count / (spent->ran * ABOVE + AWAY));
		f->away++;
	}
}

static double median(const struct found *f)
{
	unsigned long n = 0;
	int i;

	for (i = 0; i < BINS; i++) {
		n += f->share[i];
		if (n * 2 >= f->intervals)
			break;
	}
	return i / 1000.0;
}

/* A host that takes a virtual CPU away in an interval in which the thread loses
 * it anyway has its time counted, which the thread's clock may leave out: in a
 * few of them, while a count that does not see preemptions has them in all. */
static void check_above(const char *name, const struct found *f, bool rival)
{
	unsigned long i, above = 0;
	unsigned long n = f->away < RATES ? f->away : RATES;

	for (i = 0; i < n; i++)
		above += (double)f->needs[i] > f->rate;
	diag("%s: %lu of %lu intervals with a pause show more than was run",
	     name, above, n);
	if (rival)
		ok(bounded(0, (double)above, (double)(n / 10 + 2),
			   "intervals have the others' time in them"),
		   "%s: the others' time is left out", name);
}

#endif
