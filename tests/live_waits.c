/* SPDX-License-Identifier: 0BSD */
/* A calibrated counter stands still while its thread waits, however short the
 * waits are and whoever else has the CPU meanwhile: what it counts is compared
 * with the thread's own time. And what cpucycles_interruptions() is to tell is
 * told. */
#include "load.h"

#include <sys/prctl.h>
#include "tools/common/known.h"
#include "tools/common/stats.h"

#define LOW 0.97    /* counts per cycle of the thread's own */
#define TRIES 40    /* the host may be busy, for seconds; */
#define PAUSE 10000 /* us, longer after each */
#define ROUNDS 200  /* of work and a wait in a try, */
#define TRY_NS 2e8  /* or as many as go into this, but */
#define FEWEST 50
#define LONG 1.5    /* medians: the host has taken a part of the round */
#define CALL_NS 5e5 /* others had the CPU in a longer call */
#define LACK_NS 8e3 /* of a preemption may count: COUNT_SWITCH_HIDES */
#define ECHO 16     /* waits of which so much may count again: LOST_SWITCHED */
#define EVENTS 200

static double cycles_ns(void)
{
	return (double)cpucycles_observepersecond() / 1e9;
}

static double rate; /* when the test began */

static void work(int us)
{
	known->loop((unsigned long)(us * 1e3 * rate) / known->turn + 1);
}

static void doze(int us)
{
	usleep((useconds_t)us);
}

static void yielding(void)
{
	work(100);
	sched_yield();
}

static void yield(int us)
{
	(void)us;
	sched_yield();
}

/* The thread works for so long, in so many pieces, and counts after each; then
 * it waits. `reported` and `otherwise` are the most that may be counted per own
 * cycle, where the kernel tells of waits and where it does not. */
static const struct job {
	int work, pieces;
	void (*wait)(int us);
	int us;
	void (*rival)(void);
	double reported, otherwise;
	const char *name;
} jobs[] = {
	{100, 1, doze, 50, NULL, 1.05, 1.10, "sleeps"},
	{100, 1, doze, 100, NULL, 1.05, 1.10, "sleeps"},
	{100, 1, doze, 300, NULL, 1.05, 1.10, "sleeps"},
	{300, 1, doze, 300, NULL, 1.05, 1.10, "sleeps"},
	{500, 1, doze, 300, NULL, 1.05, 1.10, "sleeps"},
	{100, 10, doze, 50, NULL, 1.05, 1.10, "sleeps"},
	{100, 10, doze, 300, NULL, 1.05, 1.10, "sleeps"},
	{1000, 1, doze, 1000, NULL, 1.05, 1.10, "sleeps"},
	{3000, 1, doze, 1000, NULL, 1.05, 1.10, "sleeps"},
	{20, 1, doze, 100, NULL, 1.05, 1.35, "sleeps"},
	{50, 1, yield, 0, yielding, 1.05, 1.10, "yields to a rival"},
	{5000, 1, yield, 0, load_busy, 1.05, 1.10, "yields to a busy rival"},
	{10, 1, doze, 10, NULL, 1.25, NO_LIMIT, "sleeps"},
	{10, 1, doze, 20, NULL, 1.05, NO_LIMIT, "sleeps"},
	{10, 1, doze, 30, NULL, 1.05, NO_LIMIT, "sleeps"},
};

/* How often this thread lost its CPU without a wait; 0 where the system does
 * not tell. */
static long preemptions(void)
{
	struct rusage u = {.ru_nivcsw = 0};

#ifdef RUSAGE_THREAD
	getrusage(RUSAGE_THREAD, &u);
#endif
	return u.ru_nivcsw;
}

/* What a round took: ns of all, of the thread's own, of these what its clock
 * lacked, and of calls, which are in no count, or hardly; the preemptions, and
 * the cycles counted. */
struct round {
	double wall, own, lacked, called, taken, counted;
};

static double called;

static long long count(void)
{
	double begun = wall_ns(), took;
	long long now = cpucycles();

	took = wall_ns() - begun;
	called += took < CALL_NS ? took : 0;
	return now;
}

/* Since those of `begin`, but for the cycles. */
static struct round since(struct round begin)
{
	struct round r = {.called = called - begin.called};

	r.taken = (double)preemptions() - begin.taken;
	r.own = ran_ns() - begin.own;
	r.wall = wall_ns() - begin.wall;
	return r;
}

/* What the thread's clock lacks of the work. The host may have had the CPU:
 * just before, as the thread woke, or now, which counts. Linux takes that off
 * the time of whoever runs next. */
static double lacking(struct round worked)
{
	return worked.own < worked.wall && worked.taken == 0
		       ? worked.wall - worked.own
		       : 0;
}

static struct round one_round(const struct job *job)
{
	const struct round never = {0, 0, 0, 0, 0, 0};
	long long before = count();
	const struct round begin = since(never);
	double lacked;
	struct round r;
	int i;

	for (i = 0; i < job->pieces; i++) {
		work(job->work / job->pieces);
		count();
	}
	lacked = lacking(since(begin));
	job->wait(job->us);
	count();
	before = count() - before;
	r = since(begin);
	r.own += lacked;
	r.lacked = lacked;
	r.counted = (double)before;
	return r;
}

/* The rounds that were not disturbed, in all; and the most that the thread's
 * clock lacked in any round. */
static struct round try(const struct job *job)
{
	static struct round r[ROUNDS];
	static long long wall[ROUNDS];
	struct round sum = {0, 0, 0, 0, 0, 0};
	double begun = wall_ns();
	int i, n;

	for (n = 0; n < ROUNDS; n++) {
		if (n >= FEWEST && wall_ns() - begun > TRY_NS)
			break;
		r[n] = one_round(job);
		wall[n] = (long long)r[n].wall;
	}
	sum.wall = LONG * (double)stats_median(wall, n);
	for (i = 0; i < n; i++) {
		if (r[i].lacked > sum.lacked)
			sum.lacked = r[i].lacked;
		if (r[i].wall >= sum.wall)
			continue;
		sum.own += r[i].own;
		sum.called += r[i].called;
		sum.taken += r[i].taken;
		sum.counted += r[i].counted;
	}
	return sum;
}

/* What is counted per cycle of the thread's own: with that of calls, and
 * without. The core's rate may move meanwhile. */
static void check_job(const struct job *job, bool reported)
{
	double most = reported ? job->reported : job->otherwise;
	const pid_t rival = job->rival ? load_rival(job->rival) : 0;
	double mean, with, without;
	struct round r;
	bool still = false, before;
	int i = 0, fair = 0;

	do {
		doze(PAUSE * i);
		mean = cycles_ns() / 2;
		r = try(job);
		mean += cycles_ns() / 2;
		with = r.counted / ((r.own + r.taken * LACK_NS) * mean);
		without = r.counted / ((r.own - r.called) * mean);
		/* What the host takes in the midst of work the library must
		 * expect again, for some waits. */
		before = still;
		still = r.lacked * ECHO <= (most - 1) * r.own;
		fair += before && still;
	} while (++i < TRIES && (without < LOW || with > most));
	load_rival_end(rival);
	if (with > most && fair == 0) {
		skip("%s %d us: the host took the CPU in all of %d tries",
		     job->name, job->us, i);
		return;
	}
	if (with > most || without < LOW)
		diag("%.3f cycles/ns, %.0f us of its own, %.0f in calls, "
		     "%.0f lacked, %.0f preemptions; %d of %d tries "
		     "undisturbed",
		     mean, r.own / 1e3, r.called / 1e3, r.lacked / 1e3, r.taken,
		     fair, i);
	ok(bounded(LOW, without, NO_LIMIT, "counts per cycle of its own") &&
		   bounded(0, with, most, "counts per cycle of its own"),
	   "works %d us in %d, %s %d us: %.2f counted per own cycle, %.2f "
	   "without calls",
	   job->work, job->pieces, job->name, job->us, with, without);
}

/* The events that cpucycles_interruptions() tells. Each returns whether it
 * happened. */
static bool preempted(void)
{
	long before = preemptions();
	int i;

	for (i = 0; i < 100 && preemptions() == before; i++)
		work(100);
	return i < 100;
}

static volatile unsigned alarms_come;

/* Every second time it counts. */
static void on_alarm(int sig)
{
	(void)sig;
	alarms_come = alarms_come + 1;
	if (alarms_come % 2 == 0)
		cpucycles();
}

static bool signalled(void)
{
	unsigned before = alarms_come;
	struct itimerval t = {{0, 0}, {0, 200}};
	int i;

	setitimer(ITIMER_REAL, &t, NULL);
	/* On a slow machine it comes at this call's end, and some kernels do
	 * not report that. */
	if (alarms_come != before)
		return false;
	for (i = 0; i < 10000 && alarms_come == before; i++)
		work(10);
	return alarms_come != before;
}

static void check_told(const char *name, bool (*event)(void), void (*act)(void))
{
	const pid_t rival = act != NULL ? load_rival(act) : 0;
	int i, happened = 0, untold = 0;
	long long before;

	for (i = 0; i < EVENTS; i++) {
		before = cpucycles_interruptions();
		if (!event())
			continue;
		happened++;
		untold += cpucycles_interruptions() == before;
	}
	load_rival_end(rival);
	if (happened == 0)
		skip("%s: did not happen", name);
	else
		ok(bounded(0, untold, 0, "it was not told") && before >= 0,
		   "%s: %d of %d are interruptions", name, happened - untold,
		   happened);
}

int main(void)
{
	bool reported;
	size_t i;

	if (SANITIZED)
		skip_all("a sanitizer makes calls long");
	load_begin();
	if (!known_usable())
		skip_all("no chain of known length");
	reported = load_tells_waits();
	diag("the kernel %s of waits", reported ? "tells" : "does not tell");
	prctl(PR_SET_TIMERSLACK, 1);
	rate = cycles_ns();
	signal(SIGALRM, on_alarm);
	affinity_pin(affinity_here());
	for (i = 0; i < COUNT(jobs); i++)
		check_job(&jobs[i], reported);
	if (cpucycles_interruptions() < 0)
		return done_testing();
	check_told("preempted", preempted, load_busy);
	check_told("a timer's signal", signalled, NULL);
	return done_testing();
}
