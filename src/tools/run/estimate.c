/* SPDX-License-Identifier: 0BSD */
/* A command's cycles where nothing counts them: its CPU time times the rate of
 * the cores.
 *
 * Now and then one of its threads that run is chosen at random, and the rate of
 * its CPU measured. The sample has the weight of all that run, so that the mean
 * is that of the CPU time.
 *
 * What the kernel and the hypervisor take to give the CPU to others is in the
 * CPU time: 12 to 17 us each time on a virtual Zen 4, a tenth of the time
 * beside compilations. So it is measured, and taken off. */
#include <config.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cpucycles.h"
#include "estimate.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/tool.h"
#include "../common/system.h"

#define SHARE 100 /* of the time for a sample, at most */
#define TRIES 5
#define WAKEUPS 40
#define PAUSE 100000              /* ns, before each */
#define CYCLES (5 * KNOWN_CYCLES) /* beside which waitpid(2) takes nothing */

struct estimate estimate;
static double estimate_preemption; /* ns */

/* Samples since estimate_cycles(); what the machine had done before. */
static double estimate_sum, estimate_weight;
static struct system_time estimate_before;
/* Of all samples; Hz from each to the next. */
static double estimate_apart, estimate_samples;

/* What this process, which runs chains, takes longer for each time that another
 * one wakes. */
static double estimate_wakeups(void)
{
	const struct timespec pause = {0, PAUSE};
	struct rusage before, after;
	pid_t other;
	double ns;
	long n;

	affinity_pin(affinity_here());
	other = fork();
	for (n = 0; other == 0 && n < WAKEUPS; n++)
		nanosleep(&pause, NULL);
	if (other == 0)
		_exit(0);
	getrusage(RUSAGE_SELF, &before);
	ns = -(double)tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	do {
		known[0].loop(CYCLES / known[0].turn);
		ns -= CYCLES * 1e9 / estimate.hz;
	} while (waitpid(other, NULL, WNOHANG) == 0);
	ns += (double)tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	getrusage(RUSAGE_SELF, &after);
	n = after.ru_nivcsw - before.ru_nivcsw;
	return n > WAKEUPS / 4 && ns > 0 ? ns / (double)n : 0;
}

bool estimate_begin(void)
{
	struct affinity a;
	int i;

	/* Beside load, a rate may not be had. */
	for (i = 0; i < TRIES && known_usable() && estimate.hz == 0; i++)
		estimate.hz = (double)cpucycles_observepersecond();
	affinity_get(&a);
	if (estimate.hz > 0)
		estimate_preemption = estimate_wakeups();
	affinity_end(&a);
	return estimate.hz > 0;
}

long long estimate_sample(int pid)
{
	long long spent = -tool_ns();
	struct affinity a;
	double hz = 0;
	int running = 0, cpu;

	if (estimate_weight == 0)
		system_time("", &estimate_before);
	system_running(pid, &running, &cpu);
	if (running > 0) {
		affinity_get(&a);
		affinity_pin(cpu);
		hz = (double)cpucycles_observepersecond();
		affinity_end(&a);
	}
	if (hz > 0) {
		estimate_weight += running;
		estimate_sum += hz * running;
		estimate_samples++;
		estimate_apart +=
			hz > estimate.hz ? hz - estimate.hz : estimate.hz - hz;
		estimate.hz = hz;
	}
	return (spent + tool_ns()) * SHARE;
}

long long estimate_cycles(long long ns, long long wall, long preemptions)
{
	double lost = estimate_preemption * (double)preemptions,
	       total = (double)ns, others;
	struct system_time now;

	/* A tick may be the command's. */
	system_time("", &now);
	others = (double)(now.busy - estimate_before.busy - 1) * 1e9 /
			 (double)sysconf(_SC_CLK_TCK) -
		 total;
	lost = lost < total / 2 ? lost : total / 2;
	estimate.load |= lost > total / 200 || others > (double)wall / 10;
	estimate.within = estimate.load ? 0.04 : 0.02;
	if (estimate_samples > 0)
		estimate.within +=
			estimate_apart / estimate_samples / estimate.hz;
	if (estimate_weight > 0)
		estimate.hz = estimate_sum / estimate_weight;
	estimate_sum = estimate_weight = 0;
	return (long long)((total - lost) * estimate.hz / 1e9);
}
