/* SPDX-License-Identifier: 0BSD */
/* What a counter may see or miss: a chain of instructions that takes a known
 * number of cycles, in this thread or elsewhere, and a wait as long. For one C
 * or C++ file of a program. */
#ifndef COMPARE_SCENARIO_H
#define COMPARE_SCENARIO_H

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "../../src/tools/common/known.h"

static unsigned long turns;
static struct timespec as_long;

static void chain(void)
{
	known[0].loop(turns);
}

/* Sets the length of the chain, in cycles. Ends the program with status 77
 * where no chain of known length is known. */
static void scenario_length(double cycles)
{
	const double parts = 100;
	struct timespec a, b;
	double ns;

	if (!known_usable()) {
		fputs("compare: no chain of known length here\n", stderr);
		exit(77);
	}
	turns = (unsigned long)(cycles / parts / (double)known[0].turn);
	chain(); /* the core may sleep, or be slow at first */
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	chain();
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	ns = parts * ((double)(b.tv_sec - a.tv_sec) * 1e9 +
		      (double)(b.tv_nsec - a.tv_nsec));
	as_long.tv_sec = (time_t)(ns / 1e9);
	as_long.tv_nsec = (long)(ns - (double)as_long.tv_sec * 1e9);
	turns *= (unsigned long)parts;
}

static void wait_as_long(void)
{
	nanosleep(&as_long, NULL);
}

static void *thread(void *arg)
{
	chain();
	return arg;
}

static void in_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, thread, NULL) != 0)
		abort();
	pthread_join(t, NULL);
}

static void in_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		chain();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, NULL, 0) != pid)
		abort();
}

static void half_on(size_t cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		abort();
	known[0].loop(turns / 2);
}

/* The first and the last CPU are of different types, where there are two. */
static void on_both(void)
{
	half_on(0);
	half_on((size_t)sysconf(_SC_NPROCESSORS_ONLN) - 1);
}

/* The last one has no name. */
static const struct scenario {
	const char *name;
	void (*run)(void);
} scenarios[] = {
	{"chain", chain},    {"wait", wait_as_long}, {"thread", in_thread},
	{"child", in_child}, {"both", on_both},      {NULL, NULL},
};

#endif
