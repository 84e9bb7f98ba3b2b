/* SPDX-License-Identifier: 0BSD */
/* Prints windows of this host, for tests/windows.txt: groups of GROUP windows,
 * one after the other, at the times when a thread would measure.
 *
 * Arguments: a name of the host and its load, and the number of groups. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include "bench.h"
#include "../../src/calibrated/calibration.h"
#include "../../src/rate/clock.h"
#include "../../src/registry.h"
#include "cpucycles.h"

#define GROUP 3

static const struct cpuc_clock *clock_with_chains(void)
{
	size_t i;

	for (i = 0; i < cpuc_slot_count; i++)
		if (cpuc_slots[i].counter->kind == CPUC_CALIBRATED)
			return cpuc_slots[i].counter->clock;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct cpuc_clock *clock = clock_with_chains();
	const struct cpuc_chain *chain;
	int groups = argc > 2 ? atoi(argv[2]) : 300, i, j;
	uint64_t stamp[GROUP][3], begin;
	long long ns;

	cpucycles();
	if (clock == NULL || !cpuc_calibration_done())
		bench_skip("no calibrated counter here");
	chain = cpuc_calibration.chain;
	printf("host %s\n", argc > 1 ? argv[1] : "without a name");
	printf("clock %llu Hz, %u cycles a turn, %u turns\n",
	       (unsigned long long)cpuc_calibration.hz, chain->cycles,
	       (unsigned)cpuc_calibration.turns);
	begin = (uint64_t)clock->tick();
	for (i = 0; i < groups; i++) {
		ns = bench_ns();
		while (bench_ns() - ns < 5000000)
			;
		for (j = 0; j < GROUP; j++)
			chain->window(cpuc_calibration.turns, stamp[j]);
		printf("%llu", (unsigned long long)(stamp[0][0] - begin));
		for (j = 0; j < GROUP; j++)
			printf(" %llu %llu",
			       (unsigned long long)(stamp[j][1] - stamp[j][0]),
			       (unsigned long long)(stamp[j][2] - stamp[j][1]));
		printf("\n");
	}
	return 0;
}
