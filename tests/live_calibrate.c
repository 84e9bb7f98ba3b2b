/* SPDX-License-Identifier: 0BSD */
/* The calibrated counter of this machine, if it has one, under what threads,
 * signals, forks and long jumps do to it. */
#include <config.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "calibrated/count.h"
#include "clock.h"
#include "system/os_clock.h"
#include "cpucycles.h"
#include "forget.h"
#include "tap.h"

#define CALIBRATIONS 2000 /* threads, each of which measures */
#define LEAKS 4000

static long long last;
static unsigned back, signals, children;

/* The work of a signal handler, besides counting. */
static volatile enum { COUNT, FORK, JUMP } task;
static sigjmp_buf out;

static void step(void)
{
	long long now = cpucycles();

	back += now < last ? 1u : 0u;
	last = now;
}

/* A child goes on where the parent was interrupted, perhaps in the middle of a
 * measurement, and counts for a while. */
static void fork_one(void)
{
	int status = 1, i;
	pid_t pid = fork();

	if (pid == 0) {
		signal(SIGALRM, SIG_IGN);
		back = 0;
		last = 0;
		for (i = 0; i < 100000; i++)
			step();
		_exit(back != 0);
	}
	if (pid > 0 && waitpid(pid, &status, 0) == pid) {
		children++;
		back += status != 0 ? 1u : 0u;
	}
}

static void on_alarm(int sig)
{
	long long a = cpucycles(), b = cpucycles();

	(void)sig;
	signals++;
	back += b < a ? 1u : 0u;
	if (task == FORK && signals % 10 == 0)
		fork_one();
	if (task == JUMP)
		siglongjmp(out, 1);
}

static void alarms(int microseconds)
{
	struct itimerval every = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &every, NULL);
}

static void count_for(double seconds)
{
	struct timeval begin, now;

	gettimeofday(&begin, NULL);
	do {
		step();
		gettimeofday(&now, NULL);
	} while ((double)(now.tv_sec - begin.tv_sec) +
			 (double)(now.tv_usec - begin.tv_usec) * 1e-6 <
		 seconds);
}

static void check_signals(void)
{
	volatile unsigned jumps = 0;

	signal(SIGALRM, on_alarm);
	alarms(83);
	count_for(0.5);
	ok(back == 0 && signals > 100, "%u signals: no count goes back",
	   signals);
	task = FORK;
	count_for(0.5);
	ok(back == 0 && children > 0,
	   "%u children forked by handlers: nor any of theirs", children);
	task = COUNT;
	if (sigsetjmp(out, 1) != 0)
		jumps++;
	task = JUMP;
	if (jumps < 500)
		count_for(1);
	task = COUNT;
	alarms(0);
	back = 0;
	last = 0;
	count_for(0.3);
	ok(back == 0, "%u long jumps out of handlers: it counts on", jumps);
}

/* 100000 steps of a dependent chain take at least that many core cycles. */
static long long work(void)
{
	long long t = cpucycles();
	unsigned long x = 1;
	int i;

	for (i = 0; i < 100000; i++)
		__asm__ __volatile__("" : "+r"(x));
	return cpucycles() - t;
}

static void *thread(void *arg)
{
	long long a = cpucycles(), b = cpucycles(), w = work();

	*(int *)arg += b < a || w < 1000 || w > 100000000000;
	return NULL;
}

static void check_threads(void)
{
	pthread_t id;
	int i, wrong = 0;

	for (i = 0; i < CALIBRATIONS; i++)
		if (pthread_create(&id, NULL, thread, &wrong) == 0)
			pthread_join(id, NULL);
		else
			wrong++;
	ok(wrong == 0, "%d threads, one after the other, all count", i);
}

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

/* The mean of the middle half: a median would be a step of the clock. */
static double middle(long long *v)
{
	long long sum = 0;
	int i;

	qsort(v, LEAKS, sizeof *v, compare);
	for (i = LEAKS / 4; i < LEAKS * 3 / 4; i++)
		sum += v[i];
	return (double)sum / (LEAKS / 2);
}

/* A detour as long as a call that measures, without a measurement: what it
 * costs is the host's, such as branches that it must learn anew. */
static __attribute__((noinline)) long long detour(void)
{
	struct cpuc_guard guard;
	uint64_t stamp[3];
	int i;

	cpuc_guard_enter(&guard);
	cpuc_os_clock_thread(cpuc_calibration.hz);
	for (i = 0; i < 3; i++)
		cpuc_calibration.ops->chain->window(cpuc_calibration.turns,
						    stamp);
	cpuc_guard_leave(&guard);
	return cpucycles();
}

/* A call that measures takes microseconds, which are in nobody's count: an
 * interval across it is as long as any, and so is the next one, but for what it
 * is after any such detour. */
static bool leaks(double *most, double *limit)
{
	static long long usual[LEAKS], across[LEAKS], after[LEAKS],
		detoured[LEAKS];
	long long a, b;
	double u, m, n, d;
	int i;

	for (i = 0; i < LEAKS; i++) {
		cpucycles();
		a = cpucycles();
		b = cpucycles();
		usual[i] = b - a;
		a = detour();
		detoured[i] = cpucycles() - a;
		a = cpucycles();
		calibrated_expire();
		b = cpucycles();
		across[i] = b - a;
		after[i] = cpucycles() - b;
	}
	u = middle(usual);
	d = middle(detoured);
	m = middle(across);
	n = middle(after);
	diag("across a measurement %.1f cycles, after it %.1f; usual are %.1f, "
	     "after a detour %.1f",
	     m, n, u, d);
	/* A leak would be of system calls and windows: as long as hundreds of
	 * calls. */
	*limit = 2 * (d > u ? d : u);
	*most = m > n ? m : n;
	return *most > *limit;
}

/* Steps of the clock may fall badly; a leak is there every time. */
static void check_leaks(void)
{
	double most, limit;
	int i;

	for (i = 0; i < 10 && leaks(&most, &limit); i++)
		;
	if (SANITIZED)
		skip("sanitizers lengthen what surrounds a measurement");
	else
		ok(bounded(0, most, limit, "cycles, as of a measurement"),
		   "a measurement is in nobody's count");
}

static void check_rate(void)
{
	struct cpucycles_counter c, raw;
	long long hz = cpucycles_observepersecond();
	unsigned i;

	ok(bounded(1e8, (double)hz, 1e10,
		   "no core has this rate: a clock or a chain is misread"),
	   "the core's rate is %lld Hz", hz);
	memset(&raw, 0, sizeof raw);
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && !strcmp(c.kind, "reference"))
			raw = c;
	ok(raw.name != NULL && cpucycles_select(raw.name) == 0,
	   "the clock below it can be asked for: %s",
	   raw.name ? raw.name : "none");
	ok(cpucycles_observepersecond() > 0,
	   "and the core's rate is known all the same");
}

#if HAVE_EMULATED_TLS
#define APART 1000 /* ticks: so much may the clocks of two cores differ */

static uint64_t cycles_of(uint64_t ticks)
{
	return cpuc_ratio_scaled(ticks, cpuc_calibration.ratio);
}

/* Ticks before and after each of two counts. */
static void *counts_without(void *unused)
{
	uint64_t t[4], cycles;
	unsigned i;

	(void)unused;
	back = cpuc_own_none() ? 0 : 1;
	t[0] = (uint64_t)cpuc_calibration.clock->tick();
	last = cpucycles();
	cycles = (uint64_t)last;
	t[1] = (uint64_t)cpuc_calibration.clock->tick();
	for (i = 0; i < 10000; i++)
		step();
	t[2] = (uint64_t)cpuc_calibration.clock->tick();
	step();
	cycles = (uint64_t)last - cycles;
	t[3] = (uint64_t)cpuc_calibration.clock->tick();
	ok(back == 0, "a thread without its own variables never goes back");
	ok(cycles >= cycles_of(t[2] - t[1] - APART) &&
		   cycles <= cycles_of(t[3] - t[0] + APART),
	   "and counts by the process's ratio");
	return NULL;
}

/* A thread for which the table of thread_local.h has no room. */
static void check_full(void)
{
	pthread_t thread;
	unsigned i;

	for (i = CPUC_OWN_FIRST; i < CPUC_OWN_ALL; i++)
		if (cpuc_own_thread[i] < sizeof(long))
			cpuc_own_thread[i] = (uintptr_t)cpuc_own_thread + i;
	pthread_create(&thread, NULL, counts_without, NULL);
	pthread_join(thread, NULL);
}
#endif

int main(void)
{
	if (strcmp(cpucycles_kind(), "calibrated") != 0)
		skip_all("%s is not calibrated", cpucycles_implementation());
	diag("%s", cpucycles_implementation());
	check_signals();
	check_threads();
	check_leaks();
#if HAVE_EMULATED_TLS
	check_full();
#endif
	check_rate();
	return done_testing();
}
