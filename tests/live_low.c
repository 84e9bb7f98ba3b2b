/* SPDX-License-Identifier: 0BSD */
/* Intervals of known work: a calibrated counter never counts less than the work
 * in them, whoever else has the CPU meanwhile. (Nor the others' time, as
 * live_waits finds.) Each scenario takes LIVE_SECONDS. */
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

/* The findings from the intervals of a scenario, where the parent can read
 * them. */
static struct found {
	unsigned long intervals, low;
	double lowest, step; /* the median of the core's steps meanwhile */
} * found;

static struct rate_steps steps;

/* How long the latest piece of work took, and for each of the latest intervals
 * the slowest two consecutive pieces: the shorter of them, as it is not the one
 * that was interrupted. And the least count of a piece in this interval. */
static struct pace {
	double piece, slowest[RECENT], least;
	unsigned n;
} pace;

static double slowest_piece(void)
{
	double slowest = 0;
	unsigned i;

	for (i = 0; i < RECENT; i++)
		slowest = pace.slowest[i] > slowest ? pace.slowest[i] : slowest;
	return slowest;
}

/* A core that has just become faster has its cycles counted too low by as much,
 * until the next look at its rate; a busy sibling makes a core slow for some
 * microseconds at a time. Then pieces took more time not long ago: how much of
 * that this work takes now, at most 1. */
static double follow_pace(double took, double slowest)
{
	return took < slowest * FASTER ? took / slowest : 1;
}

/* Half of an interval's work. */
static void work(void)
{
	double *slowest = &pace.slowest[pace.n % RECENT];
	double before = slowest_piece(), took, both, count;
	long long a;
	int i;

	for (i = 0; i < PIECES / 2; i++) {
		a = cpucycles();
		took = wall_ns();
		known->loop(KNOWN_CYCLES / PIECES / known->turn);
		took = wall_ns() - took;
		rate_steps_add(&steps, (long long)wall_ns(), (long long)took,
			       1);
		count = (double)(cpucycles() - a) * PIECES / KNOWN_CYCLES;
		both = took < pace.piece ? took : pace.piece;
		*slowest = both > *slowest ? both : *slowest;
		before = *slowest > before ? *slowest : before;
		count /= follow_pace(took, before);
		pace.least = count < pace.least ? count : pace.least;
		pace.piece = took;
	}
}

static void interval(void (*within)(void))
{
	double ran = ran_ns(), share;
	long long a = cpucycles();

	pace.least = 1e18;
	work();
	if (within != NULL)
		within();
	work();
	share = (double)(cpucycles() - a) / KNOWN_CYCLES;
	ran = ran_ns() - ran;
	found->intervals++;
	found->low += pace.least < LOW ||
		      share / follow_pace(ran / PIECES, slowest_piece()) < LOW;
	found->lowest = share < found->lowest ? share : found->lowest;
	pace.slowest[++pace.n % RECENT] = 0;
}

static void doze(void)
{
	usleep(100);
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
static int event;

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

	load_leave();
	while (wall_ns() - begun < 100e3)
		;
	if (write(event, &one, sizeof one) != sizeof one)
		_exit(1);
}

/* What a rival does, perhaps of SCHED_FIFO, and a process elsewhere; whether
 * the thread waits between intervals and within them. */
static const struct scenario {
	const char *name;
	void (*rival)(void);
	bool first;
	void (*other)(void);
	bool waits;
} scenarios[] = {
	{"beside a busy process", load_busy, false, NULL, false},
	{"beside bursts of SCHED_FIFO", burst, true, NULL, false},
	{"beside one woken by another CPU", receive, false, send, false},
	{"beside one of SCHED_FIFO, woken so", receive, true, send, false},
	{"usleep and sched_yield", NULL, false, NULL, true},
};
static const struct scenario *scenario;

/* Intervals for load_seconds. */
static void follow(void)
{
	void (*const within[4])(void) = {NULL, NULL, doze, load_yield};
	double end = wall_ns() + load_seconds * 1e9;
	unsigned i;

	for (i = 0; wall_ns() < end; i++) {
		if (scenario->waits && i % 4 < 2)
			within[2 + i % 4]();
		interval(scenario->waits ? within[i % 4] : NULL);
	}
}

static int run(void)
{
	static const struct sched_param first = {.sched_priority = 1};
	pid_t rival = scenario->rival ? load_rival(scenario->rival) : 0;
	pid_t other = scenario->other ? load_rival(scenario->other) : 0;
	bool can = rival >= 0 && other >= 0 &&
		   (other == 0 || (event >= 0 && load_elsewhere >= 0)) &&
		   (!scenario->first ||
		    sched_setscheduler(rival, SCHED_FIFO, &first) == 0);

	if (can)
		follow();
	found->step = rate_steps_sum(&steps).size;
	load_rival_end(rival);
	load_rival_end(other);
	return can ? 0 : CANNOT;
}

/* A core whose rate moves while it is judged is another one in the next try; a
 * count that is too low by itself is too low in each. A long run, which finds
 * rare ones, has one try. Where the rate moves all the time, by as much as
 * counts are too low just after it has risen, nothing can be judged. */
static void check(void)
{
	int tries = load_seconds < LONG ? TRIES : 1, status;

	do {
		*found = (struct found){0, 0, 1e18, 0};
		status = in_child(run);
	} while (--tries > 0 && status == 0 && found->low > 0);
	if (status == CANNOT)
		skip("%s: not permitted", scenario->name);
	else if (status == 0 && found->low > 0 && found->step > MOVES)
		skip("%s: the core steps by %.0f%%", scenario->name,
		     found->step * 100);
	else
		ok(bounded(0, (double)found->low, 0,
			   "intervals count less than the work in them") &&
			   status == 0 && found->intervals > 0,
		   "%s: %lu intervals show the work, the lowest %.3f of it "
		   "(%d)",
		   scenario->name, found->intervals, found->lowest, status);
}

int main(void)
{
	size_t i;

	load_begin();
	if (!known_usable())
		skip_all("no chain of known length");
	found = shared(sizeof *found);
	event = eventfd(0, 0);
	load_pin();
	for (i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
		scenario = &scenarios[i];
		check();
	}
	return done_testing();
}
