/* SPDX-License-Identifier: 0BSD */
/* How many instructions a call takes: exact, whatever else the machine does.
 *
 * A child makes no call and then one, several times; the difference of the
 * medians is a later call, with the caller's own call instruction. Counters
 * that this machine lacks are pretended, so that all paths are counted. */
#include <config.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "pretended.h"
#include "steps.h"
#include "subject.h"

#define TABLE "instructions"
#define TIMES 11
#define CODES 32

/* The counts, on a page that parent and child share. */
struct code {
	char name[64];
	int pretended;
	long long steps[2][TIMES], median[2];
};

static struct shared {
	int n;     /* codes */
	int calls; /* counted now, of the last code: 0 or 1 */
	int time;  /* for so many times before */
	struct code code[CODES];
} * shared;

static long long (*volatile count)(void);

/* While something is counted, the system's clock is this: its own instructions
 * depend on the kernel and the moment. */
static volatile int time_stands;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	if (!time_stands)
		return __real_clock_gettime(clock, t);
	t->tv_sec = t->tv_nsec = 1;
	return 0;
}

int __real_gettimeofday(struct timeval *t, void *zone);
int __wrap_gettimeofday(struct timeval *t, void *zone);
int __wrap_gettimeofday(struct timeval *t, void *zone)
{
	if (!time_stands)
		return __real_gettimeofday(t, zone);
	t->tv_sec = t->tv_usec = 1;
	return 0;
}

/* The first call, at full speed, does what is due now and then; the one between
 * the marks is like most. */
static void none(void)
{
	count();
	steps_mark();
	steps_mark();
}

static void once(void)
{
	count();
	pretended_hold();
	steps_mark();
	count();
	steps_mark();
}

static void run(const char *name, int pretended, long long (*reader)(void))
{
	struct code *c = &shared->code[shared->n++];
	int i;

	snprintf(c->name, sizeof c->name, "%s", name);
	c->pretended = pretended;
	count = reader;
	time_stands = 1;
	for (i = 0; i < TIMES; i++) {
		shared->time = i;
		shared->calls = 0;
		none();
		shared->calls = 1;
		once();
	}
	time_stands = 0;
}

static long long bare(void)
{
	return bench_bare();
}

static void child(void)
{
	struct cpucycles_counter c;
	unsigned i = 0;

	steps_traced();
	run("(" BENCH_BARE " in a function)", 0, bare);
	while (subject_next(&i, &c))
		run(c.name, 0, cpucycles);
	run("(scaled)", 1, pretended_composed(64, 3));
	run("(32 bits)", 1, pretended_composed(32, 1));
	if (pretended_perf() != NULL)
		run("(perf event)", 1, pretended_perf());
}

static void print(const struct code *c)
{
	bench_value(TABLE, c->name, "instructions", "%lld",
		    c->median[1] - c->median[0]);
	bench_value(TABLE, c->name, "pretended", "%s",
		    c->pretended ? "yes" : "no");
}

/* Parent and child take turns: on one CPU that is faster. */
static void one_cpu(void)
{
#ifdef HAVE_SCHED_SETAFFINITY
	cpu_set_t set;
	int cpu = sched_getcpu();

	CPU_ZERO(&set);
	CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
	sched_setaffinity(0, sizeof set, &set);
#endif
}

int main(void)
{
	struct code *c;
	pid_t pid;
	long n;
	int i;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	bench_progress("instructions", "");
	one_cpu();
	pid = fork();
	if (pid == 0) {
		child();
		_exit(0);
	}
	while ((n = steps_count(pid)) >= 0) {
		c = &shared->code[shared->n - 1];
		c->steps[shared->calls][shared->time] = n;
	}
	waitpid(pid, NULL, 0);
	bench_progress("", "");
	bench_title(TABLE, "5. Instructions of a later call");
	for (i = 0; i < shared->n; i++) {
		c = &shared->code[i];
		c->median[0] = bench_median(c->steps[0], TIMES);
		c->median[1] = bench_median(c->steps[1], TIMES);
	}
	if (shared->n == 0 || shared->code[0].median[1] == 0) {
		bench_note(TABLE, "Not counted: this system does not let a "
				  "process be run step by step");
		return 77;
	}
	bench_note(TABLE, "Counted step by step, with the call itself. A clock "
			  "of the system is a stand-in of few instructions, "
			  "as it differs from kernel to kernel and from "
			  "moment to moment. Pretended: the library's path "
			  "with another clock for the hardware that is missing "
			  "here");
	for (i = 0; i < shared->n; i++)
		print(&shared->code[i]);
	return 0;
}
