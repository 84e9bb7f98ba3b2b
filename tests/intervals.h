/* SPDX-License-Identifier: 0BSD */
/* Intervals of known work: which were counted too low, or with the time of
 * others in them. */
#ifndef INTERVALS_H
#define INTERVALS_H

#include "load.h"

#include "tools/common/known.h"

#define LOW 0.9      /* a step of the core's rate may hide 5% */
#define BLOCK 100e6  /* ns of counting within which a new rate is followed */
#define AWAY 500e3   /* ns that the thread has not run for */
#define ABOVE 1.01   /* of the thread's clock, and AWAY */
#define BINS 4000    /* thousandths of the work */
#define RATES 100000 /* intervals with preemptions that are remembered */

/* What the intervals of a scenario have shown. */
struct found {
	unsigned long intervals, low, faster, share[BINS + 1];
	unsigned long away;
	double lowest, ran, wall, rate;
	float needs[RATES]; /* cycles per ns, for a count to be no higher */
};

/* The least time that the work took in this block of time and in those before,
 * by the thread's clock. */
struct pace {
	double end, now, before[2];
};

/* What has passed by the clocks, and how often the thread lost its CPU: not to
 * the host, of which the kernel tells as if it were a pause of the thread. */
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

/* A core that has just become faster may have its cycles counted too low by as
 * much, for as long as cpucycles(3) says. Then the work takes less time than it
 * did: how much of that, at most 1. Whoever else has the CPU makes it more. */
static double follow_pace(struct pace *p, double ran, double now)
{
	double before =
		p->before[0] < p->before[1] ? p->before[1] : p->before[0];

	if (now > p->end) {
		p->before[1] = p->before[0];
		p->before[0] = p->now;
		p->now = ran;
		p->end = now + BLOCK;
	}
	p->now = ran < p->now ? ran : p->now;
	return ran < before ? ran / before : 1;
}

static void judge(struct found *f, double count, double pace,
		  const struct spent *spent)
{
	double share = count / KNOWN_CYCLES;
	double bin = share * 1000;

	f->intervals++;
	if (share < LOW * pace)
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
		ok(above <= n / 10 + 2, "%s: the others' time is left out",
		   name);
}

#endif
