/* SPDX-License-Identifier: 0BSD */
/* The check of cpucycles_instructions(), by a loop of known length. */
#include <config.h>
#include <stdlib.h>
#include "../common/tool.h"
#include "../common/loop.h"
#include "retired.h"

#define TURNS 100000L /* in less time than passes between two interrupts */
#define TIMINGS 9

/* The loop's instructions as counted, without those of the calls. Interrupts
 * add some, so the best of several counts. */
static long long retired_count(long long right)
{
	long long best = 0, none, some;
	int i;

	for (i = 0; i < TIMINGS; i++) {
		none = cpucycles_instructions();
		some = cpucycles_instructions();
		none = some - none;
		some = cpucycles_instructions();
		loop(TURNS);
		some = cpucycles_instructions() - some - none;
		if (i == 0 || llabs(some - right) < llabs(best - right))
			best = some;
	}
	return best;
}

static double retired_from_1(double ratio)
{
	return ratio < 1 ? 1 - ratio : ratio - 1;
}

/* Instructions a cycle, nearest to 1. */
static double retired_ratio(void)
{
	long long cycles[2], instructions[2];
	double ratio, best = 0;
	int i;

	for (i = 0; i < TIMINGS; i++) {
		cpucycles_pair(&cycles[0], &instructions[0]);
		loop(TURNS);
		cpucycles_pair(&cycles[1], &instructions[1]);
		ratio = (double)(instructions[1] - instructions[0]) /
			(double)(cycles[1] - cycles[0]);
		if (i == 0 || retired_from_1(ratio) < retired_from_1(best))
			best = ratio;
	}
	return best;
}

enum outcome retired_check(struct selftest *t)
{
	const long long right = LOOP_INSTRUCTIONS * TURNS,
			most = right / 10000 + 100;
	struct cpucycles_counter c;
	long long count;
	double ratio;

	if (cpucycles_instructionscounter(&c, sizeof c) != 0)
		return say(t, SKIPPED, TOOL_NO_INSTRUCTIONS);
	if (!c.usable)
		return say(t, SKIPPED, "%s", tool_why(&c));
	if (LOOP_INSTRUCTIONS == 0)
		return say(t, SKIPPED, "no loop of known length for this CPU");
	count = retired_count(right);
	ratio = retired_ratio();
	if (llabs(count - right) <= most && ratio > 0)
		return say(t, GOOD,
			   "%s counts %lld for %lld, tolerance %lld; %.2f a "
			   "cycle",
			   c.name, count, right, most, ratio);
	/* QEMU counts both by the host's clock. */
	if (retired_from_1(ratio) < 0.001)
		return say(t, SKIPPED,
			   "%s counts %lld for %lld, as it counts cycles: an "
			   "emulated CPU",
			   c.name, count, right);
	return say(t, OFF,
		   "%s counts %lld for %lld, tolerance %lld; %.2f a cycle",
		   c.name, count, right, most, ratio);
}
