/* SPDX-License-Identifier: 0BSD */
/* A command's cycles where nothing counts them: its CPU time, and what a second
 * of that is in cycles.
 *
 * Now and then one of its threads that run is chosen at random, and a chain of
 * known length run on its CPU, for about the same time. What the kernel and the
 * hypervisor take there, for interrupts, is in the CPU time of both: a tenth to
 * a third on a virtual Zen 5, beside compilations, in bursts of some 20 ms. So
 * samples are many; but each preempts the command, so none is shorter than a
 * millisecond. The sample has the weight of all threads that run, until the
 * next one, so that the mean is that of the CPU time.
 *
 * To give the CPU to another takes CPU time, too, of a command more often than
 * of samples: that is measured and taken off apart. */
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
#include "../common/stats.h"
#include "../common/system.h"
#include "../common/tool.h"

#define SHARE 50 /* of the time for a sample, where they differ little */
#define OFTEN 10 /* where they do not */
#define NEAR 0.01
#define PARTS 40 /* of one: a millisecond */
#define CYCLES (PARTS * KNOWN_CYCLES)
#define LONG 5   /* a part that takes a fifth more than others */
#define FIRST 20 /* samples before a command, on a CPU that is warm */
#define FEW 4    /* samples: as good are those before */
#define TRIES 5
#define UNLIKE 3    /* interruptions may be a third more, or less */
#define STEPS 0.005 /* what a clock's reading and a part's end may take */

/* Samples; each has known cycles, the time, and as a weight how much of the
 * command's CPU time it stands for. */
struct samples {
	double n;
	double weight, squares;  /* their sum, and that of their squares */
	double cycles, ns, lost; /* weighted */
	double cycle, square;    /* sums of the ns a cycle, and of its square */
};
static struct samples estimate_now, estimate_past; /* of this command, before */

/* What preemptions took of samples, and how many there were. */
static double estimate_lost, estimate_losses;

/* One that has no weight yet. */
static struct sample {
	double cycles, ns, lost; /* ns that interruptions took */
	long long since;         /* tool_ns() at its beginning */
	int threads;             /* that ran; 0: it has been added */
} estimate_last;

/* Whether the command has been sampled, and what the CPUs had done before. */
static bool estimate_sampled;
static struct system_time estimate_before;

static void estimate_add(struct samples *all, const struct sample *s,
			 double weight)
{
	const double cycle = s->ns / s->cycles;

	all->n++;
	all->weight += weight;
	all->squares += weight * weight;
	all->cycles += weight * s->cycles;
	all->ns += weight * s->ns;
	all->lost += weight * s->lost;
	all->cycle += cycle;
	all->square += cycle * cycle;
}

/* The sum of the squares of what each differs by, as a part of the mean. Of ns
 * a cycle, since it is these that add up: a sample in which the host has taken
 * most of the time counts for many. */
static double estimate_scatter(const struct samples *s)
{
	double sum = 0;

	if (s->n > 0)
		sum = s->n * (s->n * s->square / (s->cycle * s->cycle) - 1);
	return sum > 0 ? sum : 0;
}

/* The rate's error by chance, a part of it, which 19 of 20 do not exceed.
 * Student's t is about 2 + 3/n; half as much again, as neighbours resemble each
 * other. */
static double estimate_error(const struct samples *s)
{
	double free = s->n - 1, sum = estimate_scatter(s);

	if (s != &estimate_past) {
		free += estimate_past.n - 1;
		sum += estimate_scatter(&estimate_past);
	}
	if (s->n < 1 || free < 1)
		return 1;
	return (3 + 4.5 / free) * stats_root(sum / free * s->squares) /
	       s->weight;
}

/* To ask whether the thread was preempted is a system call, so only a part that
 * took long does; the other parts tell what that has taken. Linux takes what a
 * virtual machine's host has stolen, just before a process runs, off its CPU
 * time: that is no less than all parts would take if each were as quick as the
 * quickest. */
static struct sample estimate_measure(void)
{
	long long before = cpucycles_interruptions(), seen = before;
	long long ns = -tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID), whole = 0;
	long long took, least = LLONG_MAX;
	double left;
	int i, parts = 0;

	for (i = 0; i < PARTS; i++, before = seen) {
		took = -tool_ns();
		known[0].loop(KNOWN_CYCLES / known[0].turn);
		took += tool_ns();
		least = took < least ? took : least;
		if (took > least + least / LONG)
			seen = cpucycles_interruptions();
		estimate_losses += (double)(seen - before);
		whole += seen == before ? took : 0;
		parts += seen == before;
	}
	ns += tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	left = (double)(ns < whole ? ns : whole);
	if (left < (double)least * parts)
		left = (double)least * parts;
	if (parts > 0 && parts < PARTS)
		estimate_lost += (double)ns - left * PARTS / parts;
	return (struct sample){.cycles = parts * KNOWN_CYCLES,
			       .ns = left,
			       .lost = left - (double)least * parts};
}

bool estimate_begin(void)
{
	struct sample s;
	int i;

	/* As the library finds chains; beside load, not always. */
	for (i = 0; known_usable() && i < TRIES; i++)
		if (cpucycles_observepersecond() > 0)
			break;
	for (i = i < TRIES ? 0 : FIRST; known_usable() && i < FIRST; i++) {
		s = estimate_measure();
		if (s.ns > 0)
			estimate_add(&estimate_past, &s, 1);
	}
	return estimate_past.n > FEW;
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

/* The last one stands for the time until now. */
static void estimate_weigh(void)
{
	const long long passed = tool_ns() - estimate_last.since;

	if (estimate_last.threads > 0 && estimate_last.ns > 0 && passed > 0)
		estimate_add(&estimate_now, &estimate_last,
			     (double)passed * estimate_last.threads);
	estimate_last.threads = 0;
}

long long estimate_sample(int pid)
{
	const long long begun = tool_ns();
	long long spent = -tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct affinity a;
	int running = 0, cpu;

	if (!estimate_sampled)
		system_time("", &estimate_before);
	estimate_sampled = true;
	estimate_weigh();
	estimate_running(pid, &running, &cpu);
	if (running > 0) {
		affinity_get(&a);
		affinity_pin(cpu);
		estimate_last = estimate_measure();
		affinity_end(&a);
		estimate_last.threads = running;
		estimate_last.since = begun;
	}
	spent += tool_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return spent * (running > 0 && estimate_error(&estimate_now) > NEAR
				? OFTEN
				: SHARE);
}

/* What so many preemptions took. */
static double estimate_preempted(long preempted)
{
	return estimate_losses > 0 && estimate_lost > 0
		       ? (double)preempted * estimate_lost / estimate_losses
		       : 0;
}

long long estimate_cycles(long long ns, long long wall, long preempted,
			  long long *off, bool *load)
{
	long long tick = 1000000000 / sysconf(_SC_CLK_TCK);
	struct samples *s = &estimate_now;
	struct system_time now;
	double lost = estimate_preempted(preempted), error, cycles;

	/* Where the system does not tell, they may be busy. A tick may be the
	 * command's. */
	*load |= system_time("", &now) != 0 ||
		 (now.busy - estimate_before.busy - 1) * tick > ns + wall / 10;
	estimate_weigh();
	if (s->n < FEW)
		s = &estimate_past;
	lost = lost < (double)ns ? lost : 0;
	cycles = ((double)ns - lost) * s->cycles / s->ns;
	/* A sample is at no random moment, but after its own wake-up. */
	error = estimate_error(s) + STEPS + s->lost / s->ns / UNLIKE;
	/* Those by a sample, at no tick of a timer, take less, or more. */
	error += lost / (double)(ns > 0 ? ns : 1);
	*off = (long long)(error * 1e6);
	if (s == &estimate_now)
		estimate_past = *s;
	estimate_now = (struct samples){.n = 0};
	estimate_sampled = false;
	return (long long)cycles;
}
