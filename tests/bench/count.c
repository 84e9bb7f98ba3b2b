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

/* What is counted, on a page that parent and child share. */
struct code {
	char name[64];
	char clock[64]; /* another code, which it calls; "": none */
	int calls;      /* of that */
	int pretended;
	long long steps[2][TIMES], median[2];
};

static struct shared {
	int n;     /* codes */
	int calls; /* counted now, of the last code: 0 or 1 */
	int time;  /* for so many times before */
	struct code code[CODES];
} *shared;

static long long (*volatile count)(void);

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
	steps_mark();
	count();
	steps_mark();
}

static void run(const char *name, const char *clock, int calls, int pretended,
		long long (*reader)(void))
{
	struct code *c = &shared->code[shared->n++];
	int i;

	snprintf(c->name, sizeof c->name, "%s", name);
	snprintf(c->clock, sizeof c->clock, "%s", clock);
	c->calls = calls;
	c->pretended = pretended;
	count = reader;
	count();
	for (i = 0; i < TIMES; i++) {
		shared->time = i;
		shared->calls = 0;
		none();
		shared->calls = 1;
		once();
	}
}

static long long monotonic(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC, &t);
}

#ifdef CLOCK_MONOTONIC_COARSE
static long long coarse(void)
{
	struct timespec t;

	return clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
}
#endif

static long long microseconds(void)
{
	struct timeval t;

	return gettimeofday(&t, NULL);
}

static long long bare(void)
{
	return bench_bare();
}

static void child(void)
{
	struct cpucycles_counter c;
	const char *clock;
	unsigned i = 0;

	steps_traced();
	run("(" BENCH_BARE " in a function)", "", 0, 0, bare);
	run("(clock_gettime)", "", 0, 0, monotonic);
	run("(gettimeofday)", "", 0, 0, microseconds);
	while (subject_next(&i, &c)) {
		clock = strcmp(c.kind, "os") ? "" : "(clock_gettime)";
		if (strstr(c.name, "gettimeofday"))
			clock = "(gettimeofday)";
		run(c.name, clock, clock[0] != '\0', 0, cpucycles);
	}
	run("(scaled)", "", 0, 1, pretended_composed(64, 3));
#ifdef CLOCK_MONOTONIC_COARSE
	run("(coarse clock)", "", 0, 0, coarse);
	run("(32 bits)", "(coarse clock)", 2, 1, pretended_composed(32, 1));
	run("(32 bits, scaled)", "(coarse clock)", 2, 1,
	    pretended_composed(32, 3));
#endif
	if (pretended_perf() != NULL)
		run("(perf event)", "", 0, 1, pretended_perf());
}

static long a_call(const struct code *c)
{
	return (long)(c->median[1] - c->median[0]);
}

static void print(const struct code *c)
{
	long own = a_call(c);
	int i;

	bench_value(TABLE, c->name, "instructions", "%ld", a_call(c));
	for (i = 0; i < shared->n; i++)
		if (!strcmp(shared->code[i].name, c->clock))
			own -= c->calls * a_call(&shared->code[i]);
	bench_value(TABLE, c->name, "without clocks", "%ld", own);
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
	bench_note(TABLE, "Counted step by step, of a call like most; without "
			  "clocks: less "
			  "those in the system's clocks, which a counter calls "
			  "and which differ from kernel to kernel; pretended: "
			  "the library's path with another clock for the "
			  "hardware that is missing here");
	for (i = 0; i < shared->n; i++)
		print(&shared->code[i]);
	return 0;
}
