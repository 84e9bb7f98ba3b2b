/* SPDX-License-Identifier: 0BSD */
/* A calibrated counter never counts less than the work that was done between
 * two counts, whoever else has the CPU meanwhile, nor the others' time: each
 * for LIVE_SECONDS. */
#ifdef __linux__
#include "load.h"

#include "intervals.h"

#define WARM 0.2 /* s */
#define TRIES_LOW 10
#define TRIES 20   /* the host may take the CPU away, unseen by any clock */
#define SHORT 9000 /* cycles */
#define SUMS 0.01  /* 1/150 of the time may be added */
#define PART 0.1   /* s, of a sum */
#define LONG 30    /* s: such a run finds rare intervals */

static struct found *found; /* one for each of two threads */
static volatile unsigned long handled;

static void work(unsigned long cycles)
{
	known->loop(cycles / known->turn);
}

static void interval(struct found *f, struct pace *p, void (*within)(void))
{
	struct spent spent;
	double begun, wall;
	long long a, b;

	spent.switches = switches();
	begun = ran_ns();
	wall = wall_ns();
	a = cpucycles();
	if (within == NULL) {
		work(KNOWN_CYCLES);
	} else {
		work(KNOWN_CYCLES / 2);
		within();
		work(KNOWN_CYCLES / 2);
	}
	b = cpucycles();
	spent.wall = wall_ns() - wall;
	spent.ran = ran_ns() - begun;
	spent.switches = switches() - spent.switches;
	judge(f, (double)(b - a), follow_pace(p, spent.ran), &spent);
}

static void doze(void)
{
	usleep(100);
}

static void yield(void)
{
	sched_yield();
}

/* Intervals for load_seconds, with waits between and within them if asked. */
static void follow(struct found *f, bool waits)
{
	double begun = wall_ns(), ran = ran_ns();
	struct pace pace = {0};
	unsigned i;

	for (i = 0; wall_ns() - begun < load_seconds * 1e9; i++) {
		if (waits && i % 4 == 0)
			doze();
		if (waits && i % 4 == 1)
			yield();
		interval(f, &pace,
			 !waits       ? NULL
			 : i % 4 == 2 ? doze
			 : i % 4 == 3 ? yield
				      : NULL);
	}
	f->ran += ran_ns() - ran;
	f->wall += wall_ns() - begun;
}

/* Until the core has its pace, and the thread its ratio. */
static void warm(void)
{
	double begun = ran_ns();

	do {
		work(KNOWN_CYCLES);
		cpucycles();
	} while (ran_ns() - begun < WARM * 1e9);
	observe(found);
}

static int run(bool waits)
{
	follow(found, waits);
	observe(found);
	return 0;
}

static int run_alone(void)
{
	warm();
	return run(false);
}

static int run_waits(void)
{
	warm();
	return run(true);
}

static int run_beside(void (*act)(void), int niceness)
{
	pid_t rival;
	int status;

	warm();
	rival = load_rival(act);
	if (rival < 0 || (niceness != 0 && nice(niceness) == -1))
		return CANNOT;
	status = run(false);
	load_rival_end(rival);
	return status;
}

static int run_rival(void)
{
	return run_beside(load_busy, 0);
}

static int run_nice(void)
{
	return run_beside(load_busy, 19);
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

static int run_bursts(void)
{
	static const struct sched_param first = {.sched_priority = 1},
					usual = {.sched_priority = 0};

	if (sched_setscheduler(0, SCHED_FIFO, &first) != 0 ||
	    sched_setscheduler(0, SCHED_OTHER, &usual) != 0)
		return CANNOT;
	return run_beside(burst, 0);
}

static void on_alarm(int sig)
{
	(void)sig;
	if (++handled % 2 == 0)
		cpucycles();
}

static int run_signals(void)
{
	timer_t timer;

	warm();
	load_handler(SIGALRM, on_alarm, SA_RESTART);
	if (!load_timer(&timer, SIGALRM, 250000))
		return CANNOT;
	run(false);
	load_timer_stop(timer);
	return handled == 0;
}

static void *follow_one(void *arg)
{
	cpucycles();
	follow(arg, false);
	return NULL;
}

/* Sums over a thread's short intervals, one after the other: its count, and the
 * work that it did. */
struct sum {
	double count, work;
	unsigned long low;
};

static void *sum_one(void *arg)
{
	const double end = wall_ns() + PART * 1e9;
	struct sum *sum = arg;
	long long a, b;
	int i;

	cpucycles();
	work(KNOWN_CYCLES);
	a = cpucycles();
	while (wall_ns() < end)
		for (i = 0; i < 20; i++) {
			work(SHORT);
			b = cpucycles();
			sum->low += (double)(b - a) < LOW * SHORT;
			sum->count += (double)(b - a);
			sum->work += SHORT;
			a = b;
		}
	return NULL;
}

static bool two(void *(*f)(void *), void *a, void *b)
{
	pthread_t id[2];

	if (pthread_create(&id[0], NULL, f, a) != 0)
		return false;
	if (pthread_create(&id[1], NULL, f, b) != 0)
		_exit(CANNOT);
	pthread_join(id[0], NULL);
	pthread_join(id[1], NULL);
	return true;
}

static int run_two(void)
{
	warm();
	if (!two(follow_one, &found[0], &found[1]))
		return CANNOT;
	observe(found);
	return 0;
}

static double off(const struct sum *sum, const struct sum *alone)
{
	double share =
		sum->count / sum->work / (alone->count / alone->work) - 1;

	return share < 0 ? -share : share;
}

/* A thread that shares its CPU counts as much for its work as it does alone.
 * The host's pauses are in both counts. */
static int run_sums(void)
{
	struct sum sum[2], alone;
	double worse, best = 1;
	unsigned long low = 0, i;

	warm();
	for (i = 0; i < TRIES && best > SUMS; i++) {
		memset(sum, 0, sizeof sum);
		memset(&alone, 0, sizeof alone);
		sum_one(&alone);
		if (!two(sum_one, &sum[0], &sum[1]))
			return CANNOT;
		worse = off(&sum[0], &alone);
		if (off(&sum[1], &alone) > worse)
			worse = off(&sum[1], &alone);
		best = worse < best ? worse : best;
		low += sum[0].low + sum[1].low;
	}
	found->lowest = best;
	found->away = i;
	found->low = low;
	return best > SUMS;
}

/* A core whose rate moves while it is judged is another one in the next try; a
 * count that is too low by itself is too low in each. A long run, which finds
 * rare ones, has one try. */
static int try(int (*f)(void))
{
	const int most = load_seconds < LONG ? TRIES_LOW : 1;
	int tries, status = 0, i;

	for (tries = 0; tries < most; tries++) {
		for (i = 0; i < 2; i++) {
			memset(&found[i], 0, sizeof found[i]);
			found[i].lowest = 1e18;
		}
		status = load_apart(f, NULL);
		if (status != 0 || found[0].low + found[1].low == 0)
			break;
	}
	return status;
}

static void check(const char *name, int (*f)(void), int threads, bool rival)
{
	int status = try(f), i;

	if (status == CANNOT) {
		skip("%s: not permitted", name);
		return;
	}
	found[1].rate = found[0].rate;
	ok(status == 0, "%s: it happened (%d)", name, status);
	for (i = 0; i < threads; i++) {
		diag("%s: %lu intervals, %lu below %g and %lu as the core "
		     "became faster; lowest %.3f, median %.3f of the work; "
		     "ran %.0f%% of the time",
		     name, found[i].intervals, found[i].low, LOW,
		     found[i].faster, found[i].lowest, median(&found[i]),
		     found[i].ran / found[i].wall * 100);
		ok(bounded(0, (double)found[i].low, 0,
			   "intervals count less than the work in them") &&
			   found[i].intervals > 0,
		   "%s: %lu intervals show less than the work", name,
		   found[i].low);
		check_above(name, &found[i], rival);
	}
}

static void check_sums(void)
{
	int status;

	if (SANITIZED) {
		skip("sums: a sanitizer's own work is in one's, too");
		return;
	}
	memset(found, 0, sizeof *found);
	status = load_apart(run_sums, NULL);
	if (status == CANNOT) {
		skip("no threads");
		return;
	}
	diag("%lu tries, %lu of their intervals below %g of the work",
	     found->away, found->low, LOW);
	ok(bounded(0, found->lowest, SUMS,
		   "the part by which they differ in the best try") &&
		   status == 0,
	   "two threads: their sums are within %.2f%% of one's (%d)",
	   found->lowest * 100, status);
}

int main(void)
{
	load_begin();
	if (!known_usable())
		skip_all("no chain of known length");
	found = shared(2 * sizeof *found);
	load_pin();
	check("alone", run_alone, 1, false);
	check("beside a busy process", run_rival, 1, true);
	check("beside bursts of SCHED_FIFO", run_bursts, 1, false);
	check("usleep and sched_yield", run_waits, 1, false);
	check("4000 signals a second", run_signals, 1, false);
	check("nice 19 beside nice 0", run_nice, 1, true);
	check("two threads on one CPU", run_two, 2, true);
	check_sums();
	return done_testing();
}
#else
#include "tap.h"

int main(void)
{
	skip_all("written for Linux");
}
#endif
