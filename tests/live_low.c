/* SPDX-License-Identifier: 0BSD */
/* Intervals of known work: a calibrated counter never counts less than the work
 * in them, whoever else has the CPU meanwhile. (Nor the others' time, nor
 * waits, as live_waits finds.) Each scenario takes LIVE_SECONDS. */
#include "load.h"

#include <sys/eventfd.h>
#include "tools/common/known.h"
#include "tools/common/rate_steps.h"

#define TRIES 10
#define LONG 30     /* s: such a run finds rare intervals */
#define LOW 0.9     /* a step of the core's rate may hide 5% */
#define PIECES 10   /* of the work: as long as a window that calibrates */
#define RECENT 192  /* intervals within which a new rate is followed */
#define FASTER 0.97 /* of the time that the work took: the core is */
#define MOVES 0.05  /* a step of the core's rate that hides a tenth in two */

static unsigned long intervals, low; /* of a scenario, */
static double lowest;                /* and the least share of one */
static struct rate_steps steps;

/* For each of the latest intervals the slowest two consecutive pieces: the time
 * of the shorter one, as it is not the one that was interrupted. */
static double slowest[RECENT];

/* A core that has just become faster has its cycles counted too low by as much,
 * until the next look at its rate; a busy sibling makes a core slow for some
 * microseconds at a time. Then pieces took more time not long ago: how much of
 * that a piece takes now, at most 1. */
static double follow_pace(double took, double before)
{
	return took < before * FASTER ? took / before : 1;
}

/* What a piece counts of the work in it, as far as its pace explains no less;
 * `slow` is the longest time of a recent one. */
static double piece(double *slow, double *here)
{
	static double last;
	long long count = cpucycles();
	double took = wall_ns(), both;

	known->loop(KNOWN_CYCLES / PIECES / known->turn);
	took = wall_ns() - took;
	rate_steps_add(&steps, (long long)wall_ns(), (long long)took, 1);
	count = cpucycles() - count;
	both = took < last ? took : last;
	*here = both > *here ? both : *here;
	*slow = *here > *slow ? *here : *slow;
	last = took;
	return (double)count * PIECES / KNOWN_CYCLES / follow_pace(took, *slow);
}

static void interval(void)
{
	double *here = &slowest[intervals++ % RECENT];
	double slow = 0, least = 1e18, ran, share;
	long long count;
	int i;

	*here = 0;
	for (i = 0; i < RECENT; i++)
		slow = slowest[i] > slow ? slowest[i] : slow;
	ran = ran_ns();
	count = cpucycles();
	for (i = 0; i < PIECES; i++) {
		share = piece(&slow, here);
		least = share < least ? share : least;
	}
	share = (double)(cpucycles() - count) / KNOWN_CYCLES;
	ran = ran_ns() - ran;
	low += least < LOW || share / follow_pace(ran / PIECES, slow) < LOW;
	lowest = share < lowest ? share : lowest;
}

/* 0.3 ms of each 1 ms: far less than the kernel allows a real-time process. */
static void burst(void)
{
	double begun = wall_ns();

	while (wall_ns() - begun < 300e3)
		;
	usleep(700);
}

/* A rival that waits for events, and a process on another CPU that sends one
 * each 0.1 ms: what the thread runs from the event on, its clock lacks. */
static int event, elsewhere; /* -1: there is none */

static void receive(void)
{
	uint64_t n;

	if (read(event, &n, sizeof n) != sizeof n)
		_exit(1);
}

static void send(void)
{
	const uint64_t one = 1;
	double begun = wall_ns();

	if (affinity_here() != elsewhere)
		affinity_pin(elsewhere);
	while (wall_ns() - begun < 100e3)
		;
	if (write(event, &one, sizeof one) != sizeof one)
		_exit(1);
}

/* What a rival does, perhaps of SCHED_FIFO, and a process elsewhere. */
static const struct scenario {
	const char *name;
	void (*rival)(void);
	bool first;
	void (*other)(void);
} scenarios[] = {
	{"beside a busy process", load_busy, false, NULL},
	{"beside bursts of SCHED_FIFO", burst, true, NULL},
	{"beside one woken by another CPU", receive, false, send},
	{"beside one of SCHED_FIFO, woken so", receive, true, send},
};

static bool try(const struct scenario *s)
{
	static const struct sched_param first = {.sched_priority = 1};
	pid_t rival = load_rival(s->rival);
	pid_t other = s->other ? load_rival(s->other) : 0;
	bool can = rival >= 0 && other >= 0 &&
		   (other == 0 || (event >= 0 && elsewhere >= 0)) &&
		   (!s->first ||
		    sched_setscheduler(rival, SCHED_FIFO, &first) == 0);
	const double end = wall_ns() + load_seconds * 1e9;

	intervals = low = 0;
	lowest = 1e18;
	memset(&steps, 0, sizeof steps);
	while (can && wall_ns() < end)
		interval();
	load_rival_end(rival);
	load_rival_end(other);
	return can;
}

/* A core whose rate moves while it is judged is another one in the next try; a
 * count that is too low by itself is too low in each. A long run, which finds
 * rare ones, has one try. Where the rate moves all the time, by as much as
 * counts are too low just after it has risen, nothing can be judged. */
static void check(const struct scenario *s)
{
	int tries = load_seconds < LONG ? TRIES : 1;
	double step;
	bool can;

	do
		can = try(s);
	while (--tries > 0 && can && low > 0);
	step = rate_steps_sum(&steps).size;
	if (!can)
		skip("%s: not permitted", s->name);
	else if (low > 0 && step > MOVES)
		skip("%s: the core steps by %.0f%%", s->name, step * 100);
	else
		ok(bounded(0, (double)low, 0,
			   "intervals count less than the work in them") &&
			   intervals > 0,
		   "%s: %lu intervals show the work, the lowest %.3f of it",
		   s->name, intervals, lowest);
}

int main(void)
{
	int here = affinity_here();
	struct affinity all;
	size_t i;

	load_begin();
	if (!known_usable())
		skip_all("no chain of known length");
	event = eventfd(0, 0);
	affinity_get(&all);
	elsewhere = affinity_next(&all, -1);
	if (elsewhere == here)
		elsewhere = affinity_next(&all, here);
	affinity_pin(here);
	for (i = 0; i < COUNT(scenarios); i++)
		check(&scenarios[i]);
	return done_testing();
}
