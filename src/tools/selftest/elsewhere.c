/* SPDX-License-Identifier: 0BSD */
/* Checks of the count in other threads, in a child process, on other CPUs. */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#ifndef _WIN32
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#endif
#include "../common/affinity.h"
#include "../common/tool.h"
#include "selftest.h"

#define TOGETHER 4   /* threads whose first calls come at one moment */
#define BRIEF 25     /* times that they count a little and end */
#define PATIENCE 30  /* seconds, for a child that hangs */
#define TOLERANCE 15 /* percent, between two that are both right */
#define ROUNDS 8     /* a CPU whose count is ahead shows on the way back */

/* A thread or a child, and how it counts. */
struct elsewhere {
	const struct selftest *test;
	int ms;                      /* for the rate; 0: not measured */
	long long first;             /* count */
	struct counting_order order; /* of 0 calls: the count stands still */
	struct selftest_rate rate;   /* of 0 windows: cannot be measured */
};

static void *elsewhere_count(void *arg)
{
	struct elsewhere *e = arg;

	e->first = e->order.last = cpucycles();
	if (counting_step(e->first) > 0)
		counting_order(&e->order, e->ms * 500000LL);
	if (e->order.calls > 0 && e->ms > 0)
		counting_rate(e->test, e->ms, &e->rate);
	return NULL;
}

/* Compares with the main thread's rate, whether that is right or wrong: each
 * check finds one kind of mistake. */
static enum outcome elsewhere_judge(struct selftest *t,
				    const struct elsewhere *e,
				    const char *where)
{
	const struct counting_order *o = &e->order;
	double percent = (double)e->rate.ppm * 100 / (double)t->base.ppm;

	if (o->calls == 0)
		return say(t, BAD, "the count stands still in %s", where);
	if (o->back > 0)
		return say(
			t, BAD,
			"%lld of %lld counts in %s went back, by %lld at most",
			o->back, o->calls, where, o->worst);
	if (e->ms == 0)
		return GOOD;
	if (e->rate.windows == 0)
		return say(t, SKIPPED, "the rate in %s cannot be measured",
			   where);
	return say(t, selftest_near(percent, TOLERANCE) ? GOOD : OFF,
		   "the rate in %s is %.2f%% of the main thread's", where,
		   percent);
}

/* Runs a thread for each pointer. False if they cannot be created. */
static bool elsewhere_together(void *(*run)(void *), void *const arg[],
			       int wanted)
{
	pthread_t id[TOGETHER];
	int n = 0, i;

	while (n < wanted && pthread_create(&id[n], NULL, run, arg[n]) == 0)
		n++;
	for (i = 0; i < n; i++)
		pthread_join(id[i], NULL);
	return n == wanted;
}

enum outcome elsewhere_threads(struct selftest *t)
{
	struct elsewhere e[TOGETHER];
	void *const each[TOGETHER] = {&e[0], &e[1], &e[2], &e[3]};
	enum outcome outcome = GOOD;
	int i, j;

	for (i = 0; i <= BRIEF && outcome == GOOD; i++) {
		for (j = 0; j < TOGETHER; j++)
			e[j] = (struct elsewhere){
				.test = t, .ms = i < BRIEF ? 0 : t->ms / 20};
		if (!elsewhere_together(elsewhere_count, each, TOGETHER))
			return say(t, SKIPPED, "no thread can be created");
		for (j = 0; j < TOGETHER && outcome == GOOD; j++)
			outcome = elsewhere_judge(t, &e[j], "a thread");
	}
	return outcome;
}

#define WORKS 10 /* between two looks at the thread's clock */

/* In percent. Core counters leave out the kernel's part of the thread's time,
 * which is large on emulated machines. */
#define SHARING_MOST 106
#define SHARING_LEAST_CORE 70
#define SHARING_LEAST 94

/* One of two threads on one CPU: its count, and the time for which it ran. */
struct sharing {
	long long ns;     /* to run; then, that it ran */
	long long count;  /* cycles, in that time */
	long long passed; /* ns, with those of the other thread */
};

static void *sharing_count(void *arg)
{
	struct sharing *s = arg;
	long long ran, ns = 0, begun;
	int i;

	cpucycles();
	begun = tool_ns();
	ran = tool_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	s->count = cpucycles();
	while (ns < s->ns) {
		for (i = 0; i < WORKS; i++)
			counting_work();
		ns = tool_clock_ns(CLOCK_THREAD_CPUTIME_ID) - ran;
	}
	s->count = cpucycles() - s->count;
	s->passed = tool_ns() - begun;
	s->ns = ns;
	return NULL;
}

enum outcome elsewhere_sharing(struct selftest *t)
{
	struct sharing s[2] = {{.ns = t->ms * 250000LL},
			       {.ns = t->ms * 250000LL}};
	void *const both[] = {&s[0], &s[1]};
	double percent, least;
	struct affinity a;
	bool run = false;

	if (!t->counter.per_thread)
		return say(t, SKIPPED,
			   "the count goes on while others have the CPU");
	if (tool_thread_clock() == CLOCK_MONOTONIC)
		return say(t, SKIPPED, "the thread's clock is too coarse");
	if (affinity_get(&a) == 0) {
		affinity_pin(affinity_here());
		run = elsewhere_together(sharing_count, both, 2);
		affinity_end(&a);
	}
	if (!run)
		return say(t, SKIPPED, "no two threads on one CPU");
	percent = (double)(s[0].count + s[1].count) * 1e11 /
		  (double)(s[0].ns + s[1].ns) / (double)t->base.hz;
	least = t->counter.kind_id == CPUCYCLES_CORE ? SHARING_LEAST_CORE
						     : SHARING_LEAST;
	return say(
		t, percent > least && percent < SHARING_MOST ? GOOD : OFF,
		"two threads that ran for %.0f%% of the time count %.2f%% of "
		"that",
		(double)s[0].ns * 100 / (double)s[0].passed, percent);
}

#ifdef _WIN32
enum outcome elsewhere_fork(struct selftest *t)
{
	return say(t, SKIPPED, "Windows has no fork");
}
#else
enum outcome elsewhere_fork(struct selftest *t)
{
	struct elsewhere *e = mmap(NULL, sizeof *e, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	long long last;
	int status = 0;
	pid_t pid;

	if (e == MAP_FAILED)
		return say(t, SKIPPED, "no memory to share: %s",
			   strerror(errno));
	*e = (struct elsewhere){.test = t, .ms = t->ms / 10};
	last = cpucycles();
	pid = fork();
	if (pid == 0) {
		alarm(PATIENCE);
		elsewhere_count(e);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return say(t, SKIPPED, "no child: %s", strerror(errno));
	if (status != 0)
		return say(t, BAD, "signal %d killed the child",
			   WTERMSIG(status));
	if (e->first < last)
		return say(t, BAD,
			   "the child begins %lld below its parent's last",
			   last - e->first);
	return elsewhere_judge(t, e, "the child");
}
#endif

enum outcome elsewhere_migration(struct selftest *t)
{
	struct counting_order o = {.last = cpucycles()};
	int n = 0, i, cpu, moves = 0, lower = 0;
	enum outcome outcome;
	long long stay, back;
	struct affinity a;

	errno = affinity_get(&a);
	if (errno)
		return say(t, SKIPPED, "a thread cannot choose its CPU: %s",
			   strerror(errno));
	for (cpu = -1; (cpu = affinity_next(&a, cpu)) >= 0;)
		n++;
	stay = t->ms * 1000000LL / ((n > 0 ? n : 1) * ROUNDS);
	for (i = 0; n > 1 && i < ROUNDS; i++)
		for (cpu = -1; (cpu = affinity_next(&a, cpu)) >= 0;) {
			back = o.back;
			if (affinity_pin(cpu) != 0)
				continue;
			counting_order(&o, stay);
			lower += o.back > back;
			moves++;
		}
	affinity_end(&a);
	if (moves < 2)
		return say(t, SKIPPED, "this process may run on one CPU only");
	if (lower == 0)
		return say(t, GOOD,
			   "none of %d moves between %d CPUs took it back",
			   moves, n);
	outcome = selftest_one_core(t) ? SKIPPED : BAD;
	return say(t, outcome,
		   "the count went back after %d of %d moves between %d CPUs, "
		   "by %lld at most%s",
		   lower, moves, n, o.worst,
		   outcome == SKIPPED ? ": each core has its own" : "");
}
