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
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cpucycles.h"
#include "estimate.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/tool.h"
#include "../info/system.h"

#define PERIOD 5000000 /* ns, from sample to sample */
#define PERIOD_MOST 999999999
#define SHARE 50 /* of the time for a sample, at most */
#define CYCLES (KNOWN_CYCLES / 2)
#define TIMINGS 4
#define LONG 10   /* chains, where waitpid(2) must not matter */
#define NEAR 0.06 /* of the library's rate, as in the self-test */
#define TRIES 5
#define WAKEUPS 40
#define PAUSE 100000 /* ns, before each */

struct estimate estimate;
static double estimate_preemption; /* ns */

static double estimate_hz(void)
{
	long long ns, best = 0;
	int i;

	for (i = 0; i < TIMINGS; i++) {
		ns = -tool_ns();
		known[0].loop(CYCLES / known[0].turn);
		ns += tool_ns();
		best = best == 0 || ns < best ? ns : best;
	}
	return CYCLES * 1e9 / (double)best;
}

/* What this process, which runs chains, takes longer for each time that another
 * one wakes. */
static double estimate_wakeups(double hz)
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
		known[0].loop(LONG * (CYCLES / known[0].turn));
		ns -= LONG * CYCLES * 1e9 / hz;
	} while (waitpid(other, NULL, WNOHANG) == 0);
	ns += (double)tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	getrusage(RUSAGE_SELF, &after);
	n = after.ru_nivcsw - before.ru_nivcsw;
	return n > WAKEUPS / 4 && ns > 0 ? ns / (double)n : 0;
}

bool estimate_begin(void)
{
	double hz, ratio;
	int i;

	/* Beside load, rates may be off, or not be had. */
	for (i = 0; i < TRIES && known_usable(); i++) {
		hz = (double)cpucycles_observepersecond();
		ratio = hz / estimate_hz();
		if (ratio < 1 - NEAR || ratio > 1 + NEAR)
			continue;
		estimate_preemption = estimate_wakeups(hz);
		return true;
	}
	return false;
}

/* Counts the threads that run, of a process and its children, and chooses one.
 * The line in stat, of proc(5), has the thread's name in parentheses, which may
 * be anything, then its state, and as the 39th word its CPU. */
static void estimate_look(int pid, int *running, int *cpu)
{
	char text[1024], *word;
	glob_t found;
	int i, child;
	size_t n;
	FILE *f;

	snprintf(text, sizeof text, "/proc/%d/task/*/stat", pid);
	if (glob(text, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (n = 0; n < found.gl_pathc; n++) {
		f = fopen(found.gl_pathv[n], "re");
		if (f == NULL)
			continue;
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
		fclose(f);
		word = strrchr(text, ')');
		if (word && word[2] == 'R' && random() % ++*running == 0) {
			for (i = 2; i < 39 && word != NULL; i++)
				word = strchr(word + 1, ' ');
			*cpu = word ? (int)strtol(word, NULL, 10) : *cpu;
		}
		snprintf(text, sizeof text, "%.*schildren",
			 (int)strlen(found.gl_pathv[n]) - 4, found.gl_pathv[n]);
		f = fopen(text, "re");
		/* The kernel's. NOLINTNEXTLINE(cert-err34-c) */
		while (f != NULL && fscanf(f, "%d", &child) == 1)
			estimate_look(child, running, cpu);
		if (f != NULL)
			fclose(f);
	}
	globfree(&found);
}

/* Since estimate_cycles(): rates; the machine's work when they began. */
static double estimate_sum, estimate_weight;
static struct system_time estimate_before;
static double estimate_apart; /* Hz, of all neighbours */

long long estimate_sample(int pid)
{
	long long spent = -tool_ns();
	int running = 0, cpu = affinity_here();
	double hz;

	if (estimate_weight == 0)
		system_time("", &estimate_before);
	estimate_look(pid, &running, &cpu);
	if (running > 0 || estimate_weight == 0) {
		running += running == 0;
		affinity_pin(cpu);
		hz = estimate_hz();
		estimate_weight += running;
		estimate_sum += hz * running;
		if (estimate.samples++ == 0)
			estimate.low = estimate.high = estimate.hz = hz;
		estimate_apart +=
			hz > estimate.hz ? hz - estimate.hz : estimate.hz - hz;
		estimate.hz = hz;
		estimate.low = hz < estimate.low ? hz : estimate.low;
		estimate.high = hz > estimate.high ? hz : estimate.high;
	}
	spent = (spent + tool_ns()) * SHARE;
	spent = spent < PERIOD ? PERIOD : spent;
	return spent < PERIOD_MOST ? spent : PERIOD_MOST;
}

long long estimate_cycles(long long ns, long long wall, long preemptions)
{
	double lost = estimate_preemption * (double)preemptions,
	       total = (double)ns, others;
	struct system_time now;
	int root = 1;

	/* A tick may be the command's. */
	system_time("", &now);
	others = (double)(now.busy - estimate_before.busy - 1) * 1e9 /
			 (double)sysconf(_SC_CLK_TCK) -
		 total;
	lost = lost < total / 2 ? lost : total / 2;
	estimate.load |= lost > total / 200 || others > (double)wall / 10;
	estimate.hz = estimate_sum / estimate_weight;
	estimate_sum = estimate_weight = 0;
	/* Twice the standard error of the rate, about, by the difference from
	 * sample to sample, is added. */
	while (root * root < estimate.samples)
		root++;
	estimate.within =
		estimate_apart * 2 / estimate.samples / estimate.hz / root +
		(estimate.load ? 0.04 : 0.02);
	return (long long)((total - lost) * estimate.hz / 1e9);
}
