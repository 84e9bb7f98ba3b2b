/* SPDX-License-Identifier: 0BSD */
/* The rate of each CPU's core, found by running on each in turn. */
#include <config.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "cpus.h"
#include "stats.h"

#ifdef HAVE_SCHED_SETAFFINITY

#define SAMPLES 15
#define CPUS_MAX (1 << 20) /* far more than any kernel has */
#define MANY 8             /* from so many on, progress is worth a line */

/* The CPUs this process may run on; *ncpus is how many the set has room for.
 * The kernel refuses a set that is too small for it. */
static cpu_set_t *allowed(size_t *ncpus)
{
	cpu_set_t *set;
	size_t n;

	for (n = 1024; n <= CPUS_MAX; n *= 2) {
		set = CPU_ALLOC(n);
		if (set == NULL)
			return NULL;
		if (sched_getaffinity(0, CPU_ALLOC_SIZE(n), set) == 0) {
			*ncpus = n;
			return set;
		}
		CPU_FREE(set);
	}
	return NULL;
}

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

static void print_cpu(int cpu, size_t ncpus)
{
	cpu_set_t *one = CPU_ALLOC(ncpus);

	if (one == NULL)
		return;
	CPU_ZERO_S(CPU_ALLOC_SIZE(ncpus), one);
	CPU_SET_S((size_t)cpu, CPU_ALLOC_SIZE(ncpus), one);
	if (sched_setaffinity(0, CPU_ALLOC_SIZE(ncpus), one) == 0)
		print_rate(cpu);
	else
		printf("cpucycles cpu %d unavailable: %s\n", cpu,
		       strerror(errno));
	CPU_FREE(one);
}

int print_cpus(void)
{
	int cpu, done = 0, all;
	size_t size, ncpus;
	cpu_set_t *set = allowed(&ncpus);

	if (set == NULL) {
		fprintf(stderr,
			"cpucycles-info: cannot tell which CPUs this "
			"process may run on: %s\n",
			strerror(errno));
		return 1;
	}
	if (cpucycles_observepersecond() == 0) {
		fprintf(stderr, "cpucycles-info: the core's rate cannot be "
				"measured here: no counter of kind core or "
				"calibrated works\n");
		CPU_FREE(set);
		return 1;
	}
	size = CPU_ALLOC_SIZE(ncpus);
	all = CPU_COUNT_S(size, set);
	for (cpu = 0; (size_t)cpu < ncpus; cpu++) {
		if (!CPU_ISSET_S((size_t)cpu, size, set))
			continue;
		done++;
		if (all >= MANY && isatty(2))
			fprintf(stderr, "\rCPU %d of %d\r", done, all);
		print_cpu(cpu, ncpus);
	}
	sched_setaffinity(0, size, set);
	CPU_FREE(set);
	return 0;
}

#else

int print_cpus(void)
{
	fprintf(stderr, "cpucycles-info: --cpus needs a system on which a "
			"thread can choose its CPU\n");
	return 1;
}

#endif
