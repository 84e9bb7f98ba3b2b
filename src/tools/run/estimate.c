/* SPDX-License-Identifier: 0BSD */
/* A command's cycles where nothing counts them: its CPU time, and what a second
 * of that is in cycles.
 *
 * Now and then one of its threads that run is chosen at random, and a chain of
 * known length run on its CPU. What the kernel and the hypervisor take there,
 * for interrupts and to give the CPU to others, is in the CPU time of both: up
 * to a tenth on a virtual Zen 4, beside compilations. The sample has the weight
 * of all threads that run, so that the mean is that of the CPU time. */
#include <config.h>
#include <math.h>
#include <unistd.h>
#include "cpucycles.h"
#include "estimate.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/system.h"
#include "../common/tool.h"

#define SHARE 50                   /* of the time for a sample, at most */
#define CYCLES (80 * KNOWN_CYCLES) /* of one: milliseconds, some interrupts */
#define TRIES 5

struct estimate estimate;

/* Of samples: the latest; since estimate_cycles(); all, and Hz from each to the
 * next. */
static double estimate_hz;
static double estimate_sum, estimate_weight;
static double estimate_samples = 1, estimate_apart;
static struct system_time estimate_before; /* the first of a command */

static double estimate_measure(void)
{
	long long ns = -tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	known[0].loop(CYCLES / known[0].turn);
	return CYCLES * 1e9 /
	       (double)(ns + tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID));
}

bool estimate_begin(void)
{
	int i;

	/* As the library finds chains; beside load, not always. */
	for (i = 0; i < TRIES && known_usable(); i++)
		if (cpucycles_observepersecond() > 0) {
			estimate_hz = estimate_measure();
			return true;
		}
	return false;
}

long long estimate_sample(int pid)
{
	long long spent = -tool_ns();
	struct affinity a;
	int running = 0, cpu;
	double hz;

	if (estimate_weight == 0)
		system_time("", &estimate_before);
	system_running(pid, &running, &cpu);
	if (running > 0) {
		affinity_get(&a);
		affinity_pin(cpu);
		hz = estimate_measure();
		affinity_end(&a);
		estimate_weight += running;
		estimate_sum += hz * running;
		estimate_samples++;
		estimate_apart += fabs(hz - estimate_hz);
		estimate_hz = hz;
	}
	return (spent + tool_ns()) * SHARE;
}

long long estimate_cycles(long long ns, long long wall)
{
	double total = (double)ns, error, root = 1;
	double tick = 1e9 / (double)sysconf(_SC_CLK_TCK);
	struct system_time now;

	/* Where the system does not tell, they may be busy. */
	estimate.load |= system_time("", &now) != 0;
	/* A tick may be the command's. */
	estimate.load |= (double)(now.busy - estimate_before.busy - 1) * tick >
			 total + (double)wall / 10;
	/* Twice the standard error of the mean, about, if that is more. */
	while (root * root < estimate_samples)
		root++;
	error = 2 * estimate_apart / estimate_samples / estimate_hz / root;
	estimate.within = estimate.load ? 0.04 : 0.02;
	if (error > estimate.within)
		estimate.within = error;
	if (estimate_weight > 0)
		estimate_hz = estimate_sum / estimate_weight;
	estimate_sum = estimate_weight = 0;
	return (long long)(total * estimate_hz / 1e9);
}
