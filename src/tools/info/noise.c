/* SPDX-License-Identifier: 0BSD */
/* What disturbs timings on this machine now, and by how much.
 *
 * The clock is read in a loop first: where it jumps, the thread did not run.
 * A counter would not do, as some stand still then. After that the same work is
 * timed in many short windows, by the clock and by the counter in use. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "cpucycles.h"
#include "noise.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/stats.h"
#include "../common/tool.h"

#define LISTEN_NS 400000000 /* for gaps */
#define GAPS 8192           /* then it ends earlier */
#define GAP_NS 1000         /* shorter ones may be cache misses */
#define STEPS 1000          /* readings of the clock, for its step */

/* A window is long enough for a count or a clock in steps of 10 ns to tell
 * 0.1%, and so short that most are not interrupted. */
#define WINDOW_NS 10000
#define WINDOWS 1000 /* of which a batch's median is taken */
#define BATCHES_MIN 16
#define BATCHES_NS 1000000000LL /* enough, when there are so many */

#define VERDICT 100 /* 1/10000: worse is a finding */

const char *const noise_names[NOISE_ITEMS] = {
	"interrupts", "preemption", "steal", "dither", "rate",
	"governor",   "turbo",      "smt",   "verdict"};

static long long noise_median(long long *values, int n)
{
	stats_sort(values, n);
	return stats_quantile(values, n, 1, 2);
}

struct noise_gaps noise_sum(long long *ns, int n, long long total)
{
	struct noise_gaps g = {0, 0, 0, 0};
	int i;

	if (n == 0)
		return g;
	g.median = noise_median(ns, n);
	g.longest = ns[n - 1];
	for (i = 0; i < n; i++)
		g.share += (double)ns[i] / (double)total;
	g.persecond = n * 1e9 / (double)total;
	return g;
}

double noise_scatter(long long *values, int n)
{
	long long median = noise_median(values, n);

	return (double)(stats_quantile(values, n, 3, 4) -
			stats_quantile(values, n, 1, 4)) /
	       (double)(median > 0 ? median : 1);
}

double noise_drift(const long long *values, int n)
{
	int quarter = n < 4 ? 1 : n / 4;
	long long first[NOISE_BATCHES], last[NOISE_BATCHES], from;

	memcpy(first, values, (size_t)quarter * sizeof *first);
	memcpy(last, values + n - quarter, (size_t)quarter * sizeof *last);
	from = noise_median(first, quarter);
	return (double)llabs(noise_median(last, quarter) - from) /
	       (double)(from > 0 ? from : 1);
}

/* What two medians of the same code differ by in 19 of 20 comparisons: the 95th
 * percentile over all pairs of batches. Not only of neighbours, since what is
 * compared was seldom timed at the same moment; not the largest, since one
 * disturbed batch of 64 would decide it. A count cannot tell less than its
 * step, even if all medians agree. Rounded up to what is printed, so that the
 * exit status agrees with that. */
int noise_visible(const long long *median, int n, long long step)
{
	static long long apart[NOISE_BATCHES * (NOISE_BATCHES - 1) / 2 + 1];
	long long sorted[NOISE_BATCHES], typical, most;
	int i, k, pairs = 0;

	memcpy(sorted, median, (size_t)n * sizeof *sorted);
	typical = noise_median(sorted, n);
	for (i = 0; i < n; i++)
		for (k = 0; k < i; k++)
			apart[pairs++] = llabs(median[i] - median[k]);
	stats_sort(apart, pairs);
	most = pairs > 0 ? stats_quantile(apart, pairs, 19, 20) : 0;
	most = most > step ? most : step;
	if (typical <= 0 || most >= typical)
		return 10000;
	return (int)((most * 10000 + typical - 1) / typical);
}

/* The step of the clock: the median from one reading to the next. */
static long long noise_step(void)
{
	long long step[STEPS];
	int i;

	for (i = 0; i < STEPS; i++)
		step[i] = -calls_ns() + calls_ns();
	return noise_median(step, STEPS);
}

static void noise_listen(struct noise *n)
{
	static long long gap[NOISE_PREEMPTION + 1][GAPS];
	long long step = noise_step(), least = 10 * step, now, last, begin;
	long long switches = cpucycles_switches(), before = switches;
	int count[NOISE_PREEMPTION + 1] = {0}, kind = NOISE_INTERRUPTS;

	memset(gap, 0, sizeof gap); /* takes the page faults */
	least = least < GAP_NS ? GAP_NS : least;
	begin = last = calls_ns();
	do {
		now = calls_ns();
		if (now - last >= least) {
			switches = cpucycles_switches();
			kind = switches != before ? NOISE_PREEMPTION
						  : NOISE_INTERRUPTS;
			before = switches;
			gap[kind][count[kind]++] = now - last - step;
			now = calls_ns();
		}
		last = now;
	} while (now - begin < LISTEN_NS && count[kind] < GAPS);
	n->told = switches >= 0;
	for (kind = 0; kind <= NOISE_PREEMPTION; kind++)
		n->gaps[kind] = noise_sum(gap[kind], count[kind], now - begin);
}

/* A chain where one is known: it depends neither on where the loop lies nor on
 * how the compiler made it. */
static void noise_work(unsigned long turns)
{
	if (known[0].loop != NULL && known_usable())
		known[0].loop(turns);
	else
		for (; turns > 0; turns--)
			__asm__ __volatile__("");
}

/* The turns that a window takes. */
static unsigned long noise_turns(void)
{
	unsigned long turns = 1;
	long long ns, best;
	int i;

	for (;; turns *= 2) {
		best = WINDOW_NS;
		for (i = 0; i < 5; i++) {
			ns = calls_ns();
			noise_work(turns);
			ns = calls_ns() - ns;
			best = ns < best ? ns : best;
		}
		if (best >= WINDOW_NS / 2)
			return turns * WINDOW_NS / (unsigned long)best;
	}
}

static void noise_windows(struct noise *n)
{
	static long long cycles[WINDOWS], ns[WINDOWS];
	long long median[NOISE_BATCHES], length[NOISE_BATCHES];
	long long scatter[NOISE_BATCHES], begin = calls_ns();
	unsigned long turns = noise_turns();
	struct cpucycles_counter c = {.step = 0};
	int i, b;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	for (b = 0; b < NOISE_BATCHES &&
		    (b < BATCHES_MIN || calls_ns() - begin < BATCHES_NS);
	     b++) {
		for (i = 0; i < WINDOWS; i++) {
			ns[i] = -calls_ns();
			cycles[i] = -cpucycles();
			noise_work(turns);
			cycles[i] += cpucycles();
			ns[i] += calls_ns();
		}
		median[b] = noise_median(cycles, WINDOWS);
		scatter[b] = (long long)(noise_scatter(ns, WINDOWS) * 1e6);
		length[b] = stats_quantile(ns, WINDOWS, 1, 2);
	}
	n->moved = noise_drift(length, b);
	n->visible = noise_visible(median, b, c.step);
	n->coarse = noise_visible(median, 1, c.step) > VERDICT;
	n->dither = (double)noise_median(scatter, b) / 1e6;
	n->worst = (double)scatter[b - 1] / 1e6;
	n->windowns = (int)noise_median(length, b);
}

const struct noise *noise_measure(void)
{
	static struct noise n;
	struct system_time before, after;
	long long begin = calls_ns(), hz[5];
	int told = system_time("", &before), cpu = affinity_here(), i;

	memset(&n, 0, sizeof n);
	n.steal = -1;
	tool_progress("interruptions");
	noise_listen(&n);
	tool_progress("scatter");
	noise_windows(&n);
	for (i = 0; i < 5; i++)
		hz[i] = cpucycles_observepersecond();
	n.hz = noise_median(hz, 5);
	tool_progress("");
	if (told == 0 && system_time("", &after) == 0)
		n.steal = (double)(after.stolen - before.stolen) /
			  (double)(after.busy > before.busy
					   ? after.busy - before.busy
					   : 1);
	system_read("", cpu < 0 ? 0 : cpu, &n.system);
	n.seconds = (double)(calls_ns() - begin) / 1e9;
	return &n;
}

const char *noise_hint(const struct noise *n, enum noise_item item)
{
	static const char *const hints[NOISE_ITEMS] = {
		"move devices' interrupts to other CPUs "
		"(/proc/irq/*/smp_affinity), boot with nohz_full=",
		"stop other programs, or measure on a CPU that they do not "
		"use: taskset, isolcpus=",
		"other virtual machines use the same CPUs: measure on another "
		"machine, or later",
		"keep the other CPUs idle, those of the same core above all, "
		"and the rate fixed",
		"warm up, and let what is compared take turns",
		"cpupower frequency-set -g performance",
		"turn it off meanwhile: 1 to /sys/devices/system/cpu/"
		"intel_pstate/no_turbo, or 0 to cpufreq/boost there",
		"keep the other threads of this core idle",
		"the counter's step alone is more than 1%: see cpucycles-info "
		"for finer counters"};
	const struct system *s = &n->system;
	const bool wanted[NOISE_ITEMS] = {
		n->gaps[NOISE_INTERRUPTS].share >= 0.005,
		n->gaps[NOISE_PREEMPTION].share >= 0.001,
		n->steal > 0,
		n->worst >= 0.01 || (n->visible > VERDICT && !n->coarse),
		n->moved >= 0.005,
		s->governor[0] != '\0' &&
			strcmp(s->governor, "performance") != 0,
		s->turbo == 1,
		system_several(s->threads),
		n->coarse};

	return wanted[item] ? hints[item] : NULL;
}

int noise_status(const struct noise *n)
{
	return n->visible > VERDICT ? TOOL_FINDING : TOOL_GOOD;
}

static void noise_gaps_text(FILE *f, const struct noise *n,
			    enum noise_item item)
{
	const struct noise_gaps *g = &n->gaps[item];

	if (item == NOISE_PREEMPTION && !n->told)
		fprintf(f, "not told by the kernel, counted as interrupts");
	else if (g->longest == 0)
		fprintf(f, "none in %.1f s", (double)LISTEN_NS / 1e9);
	else
		fprintf(f,
			"%.2f%% of the time, %.0f a second, median %.1f us, "
			"longest %.1f us",
			g->share * 100, g->persecond, (double)g->median / 1e3,
			(double)g->longest / 1e3);
}

static void noise_rate_text(FILE *f, const struct noise *n)
{
	if (n->hz > 0)
		fprintf(f, "%.0f MHz, ", (double)n->hz / 1e6);
	fprintf(f, "moved by %.2f%% in %.1f s", n->moved * 100, n->seconds);
}

static void noise_item_text(FILE *f, const struct noise *n,
			    enum noise_item item)
{
	const struct system *s = &n->system;
	const char *hint = noise_hint(n, item);

	fprintf(f, "cpucycles noise %s ", noise_names[item]);
	if (item <= NOISE_PREEMPTION)
		noise_gaps_text(f, n, item);
	else if (item == NOISE_STEAL && n->steal >= 0)
		fprintf(f, "%.2f%% of the time when CPUs had work",
			n->steal * 100);
	else if (item == NOISE_DITHER)
		fprintf(f,
			"%.2f%% from quartile to quartile of windows of %.1f "
			"us, "
			"%.2f%% in the worst batch",
			n->dither * 100, n->windowns / 1e3, n->worst * 100);
	else if (item == NOISE_RATE)
		noise_rate_text(f, n);
	else if (item == NOISE_TURBO && s->turbo >= 0)
		fprintf(f, "%s", s->turbo ? "on" : "off");
	else if (item == NOISE_GOVERNOR && s->governor[0] != '\0')
		fprintf(f, "%s", s->governor);
	else if (item == NOISE_SMT && s->threads[0] != '\0')
		fprintf(f, "%s%s",
			system_several(s->threads) ? "this core is CPUs "
						   : "none: this core is CPU ",
			s->threads);
	else if (item == NOISE_VERDICT)
		fprintf(f,
			"differences under %.2f%% cannot be seen here with "
			"medians of %d",
			n->visible / 1e2, WINDOWS);
	else
		fprintf(f, "not visible here");
	fprintf(f, "%s%s\n", hint != NULL ? "; " : "",
		hint != NULL ? hint : "");
}

void noise_text(FILE *f, const struct noise *n)
{
	int item;

	for (item = 0; item < NOISE_ITEMS; item++)
		noise_item_text(f, n, (enum noise_item)item);
}

int noise_print(const struct request *r)
{
	const struct noise *n = noise_measure();

	(void)r;
	printf("cpucycles implementation %s\n", cpucycles_implementation());
	noise_text(stdout, n);
	return noise_status(n);
}
