/* SPDX-License-Identifier: 0BSD */
/* Checks a counter that reads a register of the core, on a machine where an
 * instruction takes a nanosecond, exactly (--icount of run): in threads, in a
 * child, and on each CPU.
 *
 * Arguments: the counter's name; and COUNTS/INSTRUCTIONS, what it counts for a
 * loop of about so many instructions.
 */
#include <config.h>
#include <stdint.h>

#include "../../src/tools/common/affinity.h"
#include "../../src/tools/common/known.h"
#include "../faults/faults.h"

#define TRIES 25

/* Instructions beside the loop, and a tick of a counter. */
#define TOLERANCE 64

static double taken, instructions;

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

/* What a call takes differs from thread to thread by some instructions. */
static int check(void)
{
	const unsigned long turns =
		(unsigned long)instructions / LOOP_INSTRUCTIONS;
	const long long call_cost = least_count(0);
	const double n = (double)turns * LOOP_INSTRUCTIONS,
		     right = taken * n / instructions,
		     off = taken < n ? TOLERANCE
				     : TOLERANCE * taken / instructions;
	const long long t = least_count(turns) - call_cost;

	diag("%.0f instructions count as %lld, a call as %lld", n, t,
	     call_cost);
	return !bounded(right - off, (double)t, right + off,
			"not what they are");
}

static int check_moves(void)
{
	int cpu = (int)sysconf(_SC_NPROCESSORS_ONLN), wrong = 0;

	while (cpu-- > 0) {
		affinity_pin(cpu);
		wrong |= check();
	}
	return wrong;
}

int main(int argc, char **argv)
{
	if (argc != 3 || sscanf(argv[2], "%lf/%lf", &taken, &instructions) != 2)
		return 2;
	ok(!strcmp(cpucycles_implementation(), argv[1]), "%s is selected",
	   cpucycles_implementation());
	/* A loop must be over before its parent looks. */
	nap_ns = 500000000;
	ok(check() == 0, "the first thread counts");
	ok(in_threads(1, NULL, check_moves) == 0, "a second one, on each CPU");
	ok(in_child(check) == 0, "a child");
	return done_testing();
}
