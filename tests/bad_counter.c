/* SPDX-License-Identifier: 0BSD */
/* Stands in for the library under cpucycles-selftest, whose calls of
 * cpucycles(), cpucycles_instructions() and cpucycles_counterbyname() are
 * compiled as calls of bad_count() and so on. Counts as the library does,
 * except for the mistake named by the environment variable BAD_COUNTER. */
#undef cpucycles
#undef cpucycles_instructions
#undef cpucycles_counterbyname
#include <config.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cpucycles.h"
#include "tap.h"
#include "tools/common/tool.h"

static long long start, last; /* of the thread that forks */
static long long begun;       /* ns */
static double clock_hz;       /* at which the count advances */
static pthread_t first_thread;
static pid_t first_process;

static long long coarse_step(void)
{
	return cpucycles_persecond() / 1000;
}

static long long good(long long c)
{
	return c;
}

static long long back(long long c)
{
	static __thread unsigned calls;

	return ++calls % 1024 == 0 ? c - 1000000 : c;
}

static long long still(long long c)
{
	(void)c;
	return start;
}

static long long slow(long long c)
{
	return c / 10 * 7;
}

/* For 0.15 seconds. */
static long long slow_at_first(long long c)
{
	return tool_ns() < begun + 150000000 ? slow(c) : c;
}

/* Does not stand still with the thread. At half the rate at which the count
 * advances, two threads that share a CPU would count what they should. */
static long long as_clock(long long c)
{
	(void)c;
	return (long long)((double)tool_ns() / 1e9 * clock_hz);
}

/* Of the threads, the first eight count. */
static long long eight_count(long long c)
{
	static atomic_int threads;
	static __thread int number;

	if (number == 0)
		number = ++threads;
	return number > 8 ? start : c;
}

static long long again(long long c)
{
	return c - last / 2;
}

static long long half(long long c)
{
	return last + (c - last) / 2;
}

static long long dies(long long c)
{
	(void)c;
	abort();
}

/* A clock that steps in milliseconds. */
static long long coarse(long long c)
{
	return c - c % coarse_step();
}

/* Each CPU has a count of its own, once a thread has chosen one. */
static long long apart(long long c)
{
#ifdef HAVE_SCHED_SETAFFINITY
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) == 1)
		c += 100000000000 * sched_getcpu();
#endif
	return c;
}

/* Extends 32 bits, and does not notice when they wrap between two calls. */
static long long wrap32(long long c)
{
	static __thread long long whole;

	if (whole == 0)
		whole = c;
	else
		whole += (uint32_t)((uint64_t)c - (uint64_t)whole);
	return whole;
}

static const struct mistake {
	const char *name;
	enum { EVERYWHERE, FIRST, OTHER_THREADS, CHILDREN } where;
	long long (*make)(long long count);
} mistakes[] = {
	{"good", EVERYWHERE, good},
	{"back", FIRST, back},
	{"still", EVERYWHERE, still},
	{"slow", EVERYWHERE, slow},
	{"slow-at-first", EVERYWHERE, slow_at_first},
	{"thread-back", OTHER_THREADS, back},
	{"thread-clock", OTHER_THREADS, as_clock},
	{"fork-again", CHILDREN, again},
	{"fork-slow", CHILDREN, half},
	{"fork-dies", CHILDREN, dies},
	{"coarse", EVERYWHERE, coarse},
	{"few-threads", OTHER_THREADS, eight_count},
	{"apart", EVERYWHERE, apart},
	{"wrap32", EVERYWHERE, wrap32},
	{"few-instructions", EVERYWHERE, good},
};

static const struct mistake *chosen;

static long long count(void)
{
	const bool other = !pthread_equal(pthread_self(), first_thread);
	long long c = cpucycles();

	if (chosen->where == EVERYWHERE ||
	    (chosen->where == FIRST && !other && getpid() == first_process) ||
	    (chosen->where == OTHER_THREADS && other) ||
	    (chosen->where == CHILDREN && getpid() != first_process))
		return chosen->make(c);
	if (!other)
		last = c;
	return c;
}

/* In the place of the library's variable. */
extern long long (*bad_count)(void);
long long (*bad_count)(void) = count;

extern int bad_counterbyname(const char *, struct cpucycles_counter *, size_t);
int bad_counterbyname(const char *name, struct cpucycles_counter *c, size_t n)
{
	int status = cpucycles_counterbyname(name, c, n);

	if (chosen->make == coarse)
		c->precision = coarse_step();
	return status;
}

extern long long bad_instructions(void);
long long bad_instructions(void)
{
	long long n = cpucycles_instructions();

	return strcmp(chosen->name, "few-instructions") ? n : n / 1000 * 999;
}

__attribute__((constructor)) static void choose(void)
{
	const char *name = getenv("BAD_COUNTER");
	struct cpucycles_counter c;
	size_t i;

	for (i = 0; i < COUNT(mistakes); i++)
		if (name != NULL && !strcmp(name, mistakes[i].name))
			chosen = &mistakes[i];
	if (chosen == NULL) {
		fprintf(stderr, "bad_counter: BAD_COUNTER is no mistake\n");
		exit(99);
	}
	first_thread = pthread_self();
	first_process = getpid();
	if (cpucycles_counterbyname(NULL, &c, sizeof c) == 0 &&
	    c.kind_id <= CPUCYCLES_CALIBRATED)
		clock_hz = (double)cpucycles_observepersecond();
	if (clock_hz == 0)
		clock_hz = (double)cpucycles_persecond();
	start = last = cpucycles();
	begun = tool_ns();
}
