/* SPDX-License-Identifier: 0BSD */
/* Checks a counter that reads a register of the core, or a clock, on a machine
 * where an instruction takes a nanosecond, exactly (--icount of run): in
 * threads, in a child, and on each CPU, as an ordinary user.
 *
 * Arguments: the counter's name; COUNTS/INSTRUCTIONS, what it counts for a loop
 * of about so many instructions, or "clock" if it counts at
 * cpucycles_persecond(), or "rate" if it does and instructions take any time;
 * and the name of pmcopen's file that closes the register, in the end.
 * Reference clocks never go back.
 */
#include <config.h>
#include <inttypes.h>
#include <stdbool.h>

#include "../../src/tools/common/affinity.h"
#include "../../src/tools/common/known.h"
#include "../faults/faults.h"

#define TRIES 25
#define MOVES 16
#define USER 1000

enum { BACKWARDS = 1, INEXACT = 2 };

/* Instructions beside the loop, and a tick of a counter. */
#define TOLERANCE 64

static bool steady; /* one time on all CPUs */
static double taken, instructions = 600000;

/* The least of some counts: what interrupts a loop adds to its count. */
static long long least_count(unsigned long turns)
{
	long long least = INT64_MAX, t;
	int i;

	for (i = 0; i < TRIES; i++) {
		t = -cpucycles();
		if (turns > 0)
			loop(turns);
		t += cpucycles();
		if (t < least)
			least = t;
	}
	return least;
}

/* A clock's tick is at most what it counts for a call. What a call takes
 * differs from thread to thread by some instructions. */
static int check_loop(void)
{
	const unsigned long turns =
		(unsigned long)instructions / LOOP_INSTRUCTIONS;
	const long long call_cost = least_count(0);
	const double n = (double)turns * LOOP_INSTRUCTIONS,
		     right = taken * n / instructions,
		     off = steady      ? TOLERANCE + (double)call_cost
			   : taken < n ? TOLERANCE
				       : TOLERANCE * taken / instructions;
	const long long t = least_count(turns) - call_cost;

	diag("%.0f instructions count as %lld, a call as %lld", n, t,
	     call_cost);
	return bounded(right - off, (double)t, right + off, "not what they are")
		       ? 0
		       : INEXACT;
}

/* Where a loop takes any time: cpucycles-selftest compares the rate. */
static int check_advance(void)
{
	return counts(1000) == 0 ? 0 : INEXACT;
}

static int (*check)(void) = check_loop;

/* What counts a core's cycles differs from core to core. */
static int check_moves(void)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	long long last = cpucycles(), now;
	int i, wrong = 0;

	for (i = 0; i < MOVES; i++) {
		affinity_pin(i % cpus);
		now = cpucycles();
		if (steady && now < last)
			wrong |= BACKWARDS;
		if (i < cpus)
			wrong |= check();
		last = cpucycles();
	}
	return wrong;
}

static int counts_once(void)
{
	cpucycles();
	return 0;
}

int main(int argc, char **argv)
{
	/* Only root may open it, and anybody who has it may write. */
	int fd = argc > 3 ? open(argv[3], O_WRONLY) : -1;

	if (argc < 3 || setgid(USER) != 0 || setuid(USER) != 0)
		return 2;
	ok(!strcmp(cpucycles_implementation(), argv[1]), "%s is selected",
	   cpucycles_implementation());
	steady = !strcmp(cpucycles_kind(), "reference");
	if (!strcmp(argv[2], "clock"))
		taken = instructions * (double)cpucycles_persecond() / 1e9;
	else if (!strcmp(argv[2], "rate"))
		check = check_advance;
	else
		sscanf(argv[2], "%lf/%lf", &taken, &instructions);
	/* A loop must be over before its parent looks. */
	nap_ns = 500000000;
	ok(check() == 0, "the first thread counts");
	ok(in_threads(1, NULL, check) == 0, "a second one");
	ok(in_child(check) == 0, "a child");
	ok(in_threads(1, NULL, check_moves) == 0, "on each CPU");
	if (argc > 3) {
		ok(write(fd, "0", 1) == 1, "%s is 0 while it counts", argv[3]);
		ok(in_child(counts_once) == KILLED + SIGILL, "then SIGILL");
		ok(write(fd, "1", 1) == 1 && in_child(check) == 0,
		   "and it counts on, once that is 1");
	}
	return done_testing();
}
