/* SPDX-License-Identifier: 0BSD */
/* The rate of each CPU's core, found by running on each in turn. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "../common/affinity.h"
#include "cpucycles.h"
#include "cpus.h"
#include "../common/stats.h"
#include "../common/tool.h"

#define SAMPLES 15
#define MANY 8 /* from so many on, progress is worth a line */

static void print_rate(int cpu)
{
	long long hz[SAMPLES], nominal = cpucycles_persecond();
	int i;

	for (i = 0; i < SAMPLES; i++)
		hz[i] = cpucycles_observepersecond();
	stats_sort(hz, SAMPLES);
	if (hz[0] == 0) {
		printf("cpucycles cpu %d unavailable: too noisy to measure\n",
		       cpu);
		return;
	}
	printf("cpucycles cpu %d nominal %lld observed %lld ratio %.4f spread "
	       "%.2f%%\n",
	       cpu, nominal, hz[SAMPLES / 2],
	       (double)hz[SAMPLES / 2] / (double)nominal,
	       (double)(hz[SAMPLES - 2] - hz[1]) * 100 /
		       (double)hz[SAMPLES / 2]);
}

static void print_cpu(const struct affinity *a, int cpu)
{
	int err = affinity_pin(a, cpu);

	if (err == 0)
		print_rate(cpu);
	else
		printf("cpucycles cpu %d unavailable: %s\n", cpu,
		       strerror(err));
}

int print_cpus(void)
{
	struct affinity a;
	int cpu, done = 0, all, err = affinity_get(&a);

	if (err) {
		fprintf(stderr,
			"cpucycles-info: cannot tell which CPUs this "
			"process may run on: %s\n",
			strerror(err));
		return TOOL_FINDING;
	}
	if (cpucycles_observepersecond() == 0) {
		fprintf(stderr, "cpucycles-info: the core's rate cannot be "
				"measured here: no counter of kind core or "
				"calibrated works\n");
		affinity_end(&a);
		return TOOL_FINDING;
	}
	all = affinity_count(&a);
	for (cpu = affinity_next(&a, -1); cpu >= 0;
	     cpu = affinity_next(&a, cpu)) {
		if (all >= MANY && isatty(2))
			fprintf(stderr, "\rCPU %d of %d\r", ++done, all);
		print_cpu(&a, cpu);
	}
	affinity_end(&a);
	return TOOL_GOOD;
}
