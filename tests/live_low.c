/* SPDX-License-Identifier: 0BSD */
/* Intervals of known work: a calibrated counter never counts less than the work
 * in them, whoever else has the CPU meanwhile. (Nor the others' time, as
 * live_waits finds.) Each scenario takes LIVE_SECONDS. */
#ifdef __linux__
#include "load.h"

#include <sys/eventfd.h>
#include "tools/common/known.h"

#define WARM 0.2 /* s */
#define TRIES 10
#define LONG 30     /* s: such a run finds rare intervals */
#define LOW 0.9     /* a step of the core's rate may hide 5% */
#define PIECES 10   /* of the work: as long as a window that calibrates */
#define RECENT 192  /* intervals within which a new rate is followed */
#define FASTER 0.97 /* of the time that the work took: the core is */

/* The findings from the intervals of a scenario, where the parent can read
 * them: one for each of two threads. */
static struct found {
	unsigned long intervals, low;
	double lowest, piece; /* of an interval, and of a piece */
} * found;

/* How long the latest piece of work took, and for each of the latest intervals
 * the slowest two consecutive pieces: the shorter of them, as it is not the one
 * that was interrupted. And the least count of a piece in this interval. */
static struct pace {
	double piece, slowest[RECENT], least;
	unsigned n;
} paces[2];

/* Half of an interval's work. */
static void work(struct pace *p)
{
	double *slowest = &p->slowest[p->n % RECENT], took, both, count;
	long long a;
	int i;

	for (i = 0; i < PIECES / 2; i++) {
		a = cpucycles();
		took = wall_ns();
		known->loop(KNOWN_CYCLES / PIECES / known->turn);
		took = wall_ns() - took;
		count = (double)(cpucycles() - a) * PIECES / KNOWN_CYCLES;
		p->least = count < p->least ? count : p->least;
		both = took < p->piece ? took : p->piece;
		*slowest = both > *slowest ? both : *slowest;
		p->piece = took;
	}
}

/* A core that has just become faster has its cycles counted too low by as much,
 * until the next look at its rate; a busy sibling makes a core slow for some
 * microseconds at a time. Then pieces took more time not long ago: how much of
 * that the work takes now, at most 1. */
static double follow_pace(struct pace *p, double ran)
{
	double slowest = 0;
	unsigned i;

	for (i = 0; i < RECENT; i++)
		slowest = p->slowest[i] > slowest ? p->slowest[i] : slowest;
	p->slowest[++p->n % RECENT] = 0;
	slowest *= PIECES;
	return ran < slowest * FASTER ? ran / slowest : 1;
}

static void interval(struct found *f, struct pace *p, void (*within)(void))
{
	double ran = ran_ns(), share, pace;
	long long a = cpucycles();

	p->least = 1e18;
	work(p);
	if (within != NULL)
		within();
	work(p);
	share = (double)(cpucycles() - a) / KNOWN_CYCLES;
	pace = follow_pace(p, ran_ns() - ran);
	f->intervals++;
	f->low += share < LOW * pace || p->least < LOW * pace;
	f->lowest = share < f->lowest ? share : f->lowest;
	f->piece = p->least < f->piece ? p->least : f->piece;
}

static void doze(void)
{
	usleep(100);
}

/* Intervals for load_seconds, with waits between and within them if asked. */
static int follow(struct found *f, bool waits)
{
	void (*const within[4])(void) = {NULL, NULL, doze, load_yield};
	double end = wall_ns() + load_seconds * 1e9;
	struct pace *pace = &paces[f - found];
	unsigned i;

	for (i = 0; wall_ns() < end; i++) {
		if (waits && i % 4 < 2)
			within[2 + i % 4]();
		interval(f, pace, waits ? within[i % 4] : NULL);
	}
	return 0;
}

static int run_waits(void)
{
	return follow(found, true);
}

static int run_beside(void (*act)(void))
{
	pid_t rival = load_rival(act);

	if (rival < 0)
		return CANNOT;
	follow(found, false);
	load_rival_end(rival);
	return 0;
}

static int run_rival(void)
{
	return run_beside(load_busy);
}

/* 0.3 ms of each 1 ms: far less than the kernel allows such a process. */
static void burst(void)
{
	static const struct sched_param first = {.sched_priority = 1};
	const struct timespec pause = {0, 700000};
	double begun;

	if (sched_getscheduler(0) != SCHED_FIFO)
		sched_setscheduler(0, SCHED_FIFO, &first);
	begun = wall_ns();
	while (wall_ns() - begun < 300e3)
		;
	nanosleep(&pause, NULL);
}

static bool may_be_first(void)
{
	static const struct sched_param first = {.sched_priority = 1},
					usual = {.sched_priority = 0};

	return sched_setscheduler(0, SCHED_FIFO, &first) == 0 &&
	       sched_setscheduler(0, SCHED_OTHER, &usual) == 0;
}

static int run_bursts(void)
{
	return may_be_first() ? run_beside(burst) : CANNOT;
}

/* A rival that waits for events, and a process on another CPU that sends one
 * each 0.1 ms: what the thread runs from the event on, its clock lacks. */
static int event, elsewhere = -1;

static void receive(void)
{
	uint64_t n;

	if (read(event, &n, sizeof n) != sizeof n)
		_exit(1);
}

static void receive_first(void)
{
	static const struct sched_param first = {.sched_priority = 1};

	if (sched_getscheduler(0) != SCHED_FIFO)
		sched_setscheduler(0, SCHED_FIFO, &first);
	receive();
}

static void send(void)
{
	static bool there;
	const uint64_t one = 1;
	double begun = wall_ns();

	if (!there && affinity_pin(elsewhere) != 0)
		_exit(1);
	there = true;
	while (wall_ns() - begun < 100e3)
		;
	if (write(event, &one, sizeof one) != sizeof one)
		_exit(1);
}

static int run_events(void (*rival)(void))
{
	int status;
	pid_t sender;

	event = eventfd(0, 0);
	if (event < 0 || elsewhere < 0)
		return CANNOT;
	sender = load_rival(send);
	status = run_beside(rival);
	load_rival_end(sender);
	return status;
}

static int run_woken(void)
{
	return run_events(receive);
}

static int run_woken_first(void)
{
	return !may_be_first() ? CANNOT : run_events(receive_first);
}

static int run_signals(void)
{
	timer_t timer;

	load_handler(SIGALRM, load_on_alarm, SA_RESTART);
	if (!load_timer(&timer, SIGALRM, 250000))
		return CANNOT;
	follow(found, false);
	return load_alarms == 0;
}

static void *follow_one(void *arg)
{
	cpucycles();
	follow(arg, false);
	return NULL;
}

static int run_two(void)
{
	pthread_t id;

	if (pthread_create(&id, NULL, follow_one, &found[1]) != 0)
		return CANNOT;
	follow(found, false);
	pthread_join(id, NULL);
	return 0;
}

/* Runs until the core has its pace, and the thread its ratio, which children
 * begin with. */
static void warm(void)
{
	double begun = ran_ns();

	do {
		work(&paces[0]);
		cpucycles();
	} while (ran_ns() - begun < WARM * 1e9);
}

/* A core whose rate moves while it is judged is another one in the next try; a
 * count that is too low by itself is too low in each. A long run, which finds
 * rare ones, has one try. */
static int try(int (*f)(void))
{
	const int most = load_seconds < LONG ? TRIES : 1;
	int tries, status = 0, i;

	for (tries = 0; tries < most; tries++) {
		for (i = 0; i < 2; i++) {
			memset(&found[i], 0, sizeof found[i]);
			found[i].lowest = found[i].piece = 1e18;
		}
		status = in_child(f);
		if (status != 0 || found[0].low + found[1].low == 0)
			break;
	}
	return status;
}

static void check(const char *name, int (*f)(void), int threads)
{
	int status = try(f), i;

	if (status == CANNOT) {
		skip("%s: not permitted", name);
		return;
	}
	ok(status == 0, "%s: it happened (%d)", name, status);
	for (i = 0; i < threads; i++)
		ok(bounded(0, (double)found[i].low, 0,
			   "intervals count less than the work in them") &&
			   found[i].intervals > 0,
		   "%s: %lu intervals show the work, the lowest %.3f of it, "
		   "and of a tenth %.3f",
		   name, found[i].intervals, found[i].lowest, found[i].piece);
}

int main(void)
{
	struct affinity all;
	int here = affinity_here();

	load_begin();
	if (!known_usable())
		skip_all("no chain of known length");
	found = shared(2 * sizeof *found);
	if (affinity_get(&all) == 0) {
		elsewhere = affinity_next(&all, -1);
		if (elsewhere == here)
			elsewhere = affinity_next(&all, here);
	}
	affinity_pin(here);
	warm();
	check("beside a busy process", run_rival, 1);
	check("beside bursts of SCHED_FIFO", run_bursts, 1);
	check("beside one woken by another CPU", run_woken, 1);
	check("beside one of SCHED_FIFO, woken so", run_woken_first, 1);
	check("usleep and sched_yield", run_waits, 1);
	check("4000 signals a second", run_signals, 1);
	check("two threads on one CPU", run_two, 2);
	return done_testing();
}
#else
#include "tap.h"

int main(void)
{
	skip_all("written for Linux");
}
#endif
