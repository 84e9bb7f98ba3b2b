/* SPDX-License-Identifier: 0BSD */
/* Prints windows of this host, for tests/windows: groups of GROUP windows, one
 * after the other, at the times when a thread would measure. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "../../src/calibrated/calibration.h"
#include "../../src/clock.h"
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

static void name(const char *load)
{
	char line[256], *colon;
	FILE *f = fopen("/proc/cpuinfo", "r");

	printf("host ");
	while (f != NULL && fgets(line, sizeof line, f) != NULL &&
	       line[0] != '\n') {
		colon = strchr(line, ':');
		line[strcspn(line, "\n")] = '\0';
		if (colon && (!strncmp(line, "model name", 10) ||
			      !strncmp(line, "cpu family", 10) ||
			      !strncmp(line, "model\t", 6) ||
			      !strncmp(line, "CPU part", 8)))
			printf("%.*s%s, ", (int)strcspn(line, "\t"), line,
			       colon + 1);
	}
	printf("%s\n", load);
	if (f != NULL)
		fclose(f);
}

int main(int argc, char **argv)
{
	const struct cpuc_clock *clock = clock_with_chains();
	const struct cpuc_chain *chain;
	const char *load = argc > 1 ? argv[1] : "idle";
	int groups = argc > 2 ? atoi(argv[2]) : 300, i, j;
	uint64_t stamp[GROUP][3], begin;
	long long ns;

	if (clock == NULL || cpucycles_select(argc > 3 ? argv[3] : NULL) != 0 ||
	    !cpuc_calibration_done()) {
		fprintf(stderr, "windows: no calibrated counter here\n");
		return 1;
	}
	chain = clock->chains->chain;
	name(load);
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
