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
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "estimate.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/system.h"
#include "../common/tool.h"

#define SHARE 50 /* of the time for a sample, at most */
#define PARTS 80 /* of one: milliseconds, some interrupts */
#define CYCLES (PARTS * KNOWN_CYCLES)
#define TRIES 5

/* The rate; what the samples took since estimate_cycles(), and how many threads
 * ran meanwhile. */
static double estimate_hz, estimate_ns;
static int estimate_threads;
static struct system_time estimate_before; /* the first of a command */

/* The CPU time of a sample, in ns. Linux takes what a virtual machine's host
 * has stolen, just before a process runs, off its CPU time: that is no less
 * than all parts would take if each were as quick as the quickest. */
static double estimate_measure(void)
{
	long long ns = -tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	long long least = LLONG_MAX, took;
	int i;

	for (i = 0; i < PARTS; i++) {
		took = -tool_ns();
		known[0].loop(KNOWN_CYCLES / known[0].turn);
		took += tool_ns();
		least = took < least ? took : least;
	}
	ns += tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return (double)(ns > PARTS * least ? ns : PARTS * least);
}

bool estimate_begin(void)
{
	int i;

	/* As the library finds chains; beside load, not always. */
	for (i = 0; i < TRIES && known_usable() && estimate_hz == 0; i++)
		if (cpucycles_observepersecond() > 0)
			estimate_hz = CYCLES * 1e9 / estimate_measure();
	return estimate_hz > 0;
}

/* Counts the threads that run, of a process and its children, and chooses the
 * CPU of one by chance. In the line of stat, of proc(5), comes the thread's
 * name in parentheses, which may be anything, then its state, and 35 words
 * later its CPU. */
static void estimate_running(int pid, int *running, int *cpu)
{
#define FIVE " %*s %*s %*s %*s %*s"
#define STATE ") R" FIVE FIVE FIVE FIVE FIVE FIVE FIVE " %d"
	char text[1024], *name;
	glob_t found;
	int on, child;
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
		name = strrchr(text, ')');
		/* The kernel's. NOLINTNEXTLINE(cert-err34-c) */
		if (name != NULL && sscanf(name, STATE, &on) == 1 &&
		    random() % ++*running == 0)
			*cpu = on;
		snprintf(text, sizeof text, "%.*schildren",
			 (int)strlen(found.gl_pathv[n]) - 4, found.gl_pathv[n]);
		f = fopen(text, "re");
		/* The kernel's. NOLINTNEXTLINE(cert-err34-c) */
		while (f != NULL && fscanf(f, "%d", &child) == 1)
			estimate_running(child, running, cpu);
		if (f != NULL)
			fclose(f);
	}
	globfree(&found);
}

long long estimate_sample(int pid)
{
	long long spent = -tool_ns();
	struct affinity a;
	int running = 0, cpu;

	if (estimate_threads == 0)
		system_time("", &estimate_before);
	estimate_running(pid, &running, &cpu);
	if (running > 0) {
		affinity_get(&a);
		affinity_pin(cpu);
		estimate_ns += estimate_measure() * running;
		affinity_end(&a);
		estimate_threads += running;
	}
	return (spent + tool_ns()) * SHARE;
}

long long estimate_cycles(long long ns, long long wall, bool *load)
{
	long long tick = 1000000000 / sysconf(_SC_CLK_TCK);
	struct system_time now;

	/* Where the system does not tell, they may be busy. A tick may be the
	 * command's. */
	*load |= system_time("", &now) != 0 ||
		 (now.busy - estimate_before.busy - 1) * tick > ns + wall / 10;
	if (estimate_threads > 0)
		estimate_hz = CYCLES * 1e9 * estimate_threads / estimate_ns;
	estimate_ns = estimate_threads = 0;
	return (long long)((double)ns * estimate_hz / 1e9);
}
