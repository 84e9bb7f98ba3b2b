/* SPDX-License-Identifier: 0BSD */
/* The parts of cpucycles-info --noise that compute, those that read files, on
 * fake trees, and what it finds on a pretended core, of which the other
 * hardware thread is busy at times: independent instructions take longer then,
 * a chain of dependent ones does not. The files are included, as their work is.
 */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "tools/common/known.h"
#include "tools/common/tool.h"

#define known pretended_chains
#define known_usable() true
#define loop pretended_loop
#define tool_ns pretended_ns
#define cpucycles_counterbyname(name, c, size) ((c)->step = 1)
static long long pretended_ns(void);
static void pretended_loop(unsigned long turns);
static void pretended_chain(unsigned long turns);
static const struct {
	void (*loop)(unsigned long turns);
} known[] = {{pretended_chain}};
#include "../src/tools/info/noise.c"
#include "tree.h"

#define CPUS "/sys/devices/system/cpu"

/* "": none. */
static const char *hint(const struct noise *n, int item)
{
	const char *h = noise_line(n, item).hint;

	return h != NULL ? h : "";
}

static int near(double value, double wanted)
{
	return value > wanted - 1e-9 && value < wanted + 1e-9;
}

static void check_scatter(void)
{
	long long even[] = {104, 100, 101, 103, 102}, zero[] = {0, 0, 0};

	ok(near(noise_scatter(even, 5), 2 / 102.0), "the middle half: 101-103");
	ok(noise_scatter(zero, 3) == 0, "a clock that stands still");
}

/* 64 batches of a chain and of independent instructions: of these, the first
 * `n` are `apart` above the others. */
static struct noise verdict(int n, long long apart, long long step)
{
	long long chain[BATCHES], wide[BATCHES];
	struct noise noise = {.steal = 0};
	int i;

	for (i = 0; i < BATCHES; i++) {
		chain[i] = 37000;
		wide[i] = i < n ? 37000 + apart : 37000;
	}
	noise_verdict(&noise, chain, wide, step);
	return noise;
}

static double visible(int n, long long apart, long long step)
{
	struct noise noise = verdict(n, apart, step);

	return near(noise.visible, noise.apart) ? noise.visible : -1;
}

static void check_verdict(void)
{
	static long long none[BATCHES];
	struct noise n = {.visible = 100};

	ok(visible(0, 0, 38) == 11,
	   "a count tells no less than its step, rounded up");
	ok(visible(1, 740, 0) == 0, "a batch of 64 that was disturbed");
	ok(visible(2, 740, 0) == 200 && visible(2, -740, 0) == 200,
	   "two: one of 20 pairs has one of them");
	ok(visible(16, 370, 37) == 100 && visible(16, 370, 999) == 270,
	   "the larger of scatter and step");
	ok(visible(16, 40000, 0) == 10000 && visible(0, 0, 40000) == 10000,
	   "nothing above the whole can be told");
	ok(noise_status(&n) == TOOL_GOOD, "1%% can be told");
	n.visible = 101;
	ok(noise_status(&n) == TOOL_FINDING, "worse is a finding");
	noise_verdict(&n, none, none, 0);
	ok(n.visible == 10000 && n.coarse, "a count that stands still");
}

/* What is timed in turn sees the same rate, high or low. */
static void check_turns(void)
{
	long long chain[BATCHES], wide[BATCHES], steady[BATCHES];
	struct noise n;
	int i;

	for (i = 0; i < BATCHES; i++) {
		chain[i] = i % 2 ? 37000 : 38000;
		wide[i] = chain[i] * 2;
		steady[i] = 74000;
	}
	noise_verdict(&n, chain, wide, 0);
	ok(n.visible == 0 && n.apart == 271, "in turn and apart: %g, %g",
	   n.visible, n.apart);
	noise_verdict(&n, chain, steady, 0);
	ok(n.visible > 260 && n.apart == 271, "only one changes: %g",
	   n.visible);
	noise_verdict(&n, steady, chain, 0);
	ok(n.visible > 260 && n.apart == 271, "or the other: %g", n.visible);
}

/* Medians are the same however much of the time others have. */
static void check_lost(void)
{
	struct noise n = verdict(0, 0, 0);

	n.gaps[NOISE_INTERRUPTS].share = 0.02;
	n.gaps[NOISE_PREEMPTION].share = 0.02;
	ok(noise_status(&n) == TOOL_GOOD && *hint(&n, NOISE_VERDICT) == '\0',
	   "4%% of the time lost");
	n.gaps[NOISE_PREEMPTION].share = 0.65;
	ok(noise_status(&n) == TOOL_FINDING &&
		   strstr(hint(&n, NOISE_VERDICT), "see interrupts"),
	   "65%% lost to other threads is a finding");
	n.gaps[NOISE_INTERRUPTS] = n.gaps[NOISE_PREEMPTION];
	n.gaps[NOISE_PREEMPTION].share = -1;
	ok(noise_status(&n) == TOOL_FINDING,
	   "also where the kernel does not tell to whom");
}

/* A machine whose windows take 10 us each: the rate is `size` percent lower in
 * every second stretch of so many windows, and each 50th one is interrupted. */
static struct rate_summary stepping(int stretch, double size, long long grain)
{
	static struct rate_steps s;
	long long length;
	int i;

	memset(&s, 0, sizeof s);
	for (i = 0; i < 20000; i++) {
		length = 10000 + i % 7;
		if (i / stretch % 2)
			length += (long long)(size * 100);
		if (i % 50 == 49)
			length += 2000 + i % 900;
		rate_steps_add(&s, 1000 + i * 10000LL, length, grain);
	}
	return rate_steps_sum(&s);
}

static long long uneven(void)
{
	static long long ns, readings;

	return ns += ++readings % 3 ? 60 : 20;
}

static void check_steps(void)
{
	struct rate_summary s = stepping(200, 0.8, 0);
	struct rate_steps dither = {0}, drift = {0};
	int i;

	ok(s.persecond == 0 && s.size == 0 && s.lasted == 0,
	   "less than 1%% is no step");
	s = stepping(200, 2.5, 0);
	ok(s.persecond > 490 && s.persecond < 510 && s.size > 0.02 &&
		   s.size < 0.03 && s.lasted > 0.0019 && s.lasted < 0.0021,
	   "500 steps of 2.5%%: %.0f of %.1f%%, levels of %.2f ms", s.persecond,
	   s.size * 100, s.lasted * 1e3);
	s = stepping(20000 / 3, 17, 0);
	ok(near(s.persecond * 0.19999, 2) && s.size > 0.14,
	   "two in 0.2 seconds");
	ok(stepping(2, 20, 0).persecond == 0, "two windows are no level");
	ok(stepping(200, 2.5, 300).persecond == 0,
	   "nor is a difference within the clock's step");
	ok(rate_steps_grain(uneven) == 20, "the clock's step is the smallest");
	for (i = 0; i < 50; i++)
		rate_steps_add(&dither, 1000 + i * 10000LL, 10000, 0);
	for (; i < 1000; i++)
		rate_steps_add(&dither, 1000 + i * 10000LL,
			       i / 8 % 2 ? 10070 : 9930, 0);
	ok(rate_steps_sum(&dither).persecond == 0,
	   "nor has dither by 0.7%% to either side");
	for (i = 0; i < 20000; i++)
		rate_steps_add(&drift, 1000 + i * 10000LL, 10000 + i / 10, 0);
	ok(rate_steps_sum(&drift).persecond == 0, "a drift has no steps");
}

/* Whether the item, and no other, has a hint. */
static int alone(const struct noise *n, int item)
{
	int i, right = 1;

	for (i = 0; i < NOISE_ITEMS; i++)
		right &= (*hint(n, i) != '\0') == (i == item);
	return right;
}

static void check_hints(void)
{
	static const struct noise quiet = {
		.gaps = {{0.002, 250, 4000, 9000}, {0, 0, -1, -1}},
		.steal = 0,
		.dither = 0.001,
		.worst = 0.002,
		.system = {"performance", "off", "3"},
		.visible = 12};
	struct noise n;
	int i;

	n = (struct noise){.steal = -1};
	ok(alone(&n, -1), "a machine that tells nothing needs no hint");
	n = quiet;
	n.apart = 101;
	ok(alone(&n, NOISE_VERDICT) &&
		   !strstr(hint(&n, NOISE_VERDICT), "steps"),
	   "medians that differ over time are to be timed in turn");
	n.steps.persecond = 500;
	ok(strstr(hint(&n, NOISE_VERDICT), "that is the rate's steps") &&
		   *hint(&n, NOISE_RATE) != '\0',
	   "steps of the rate are named as the cause");
	for (i = 0; i < NOISE_ITEMS; i++) {
		n = quiet;
		if (i <= NOISE_PREEMPTION)
			n.gaps[i].share = 0.03;
		n.steal = i == NOISE_STEAL ? 0.01 : 0;
		n.worst = i == NOISE_DITHER ? 0.08 : 0.002;
		n.steps.persecond = i == NOISE_RATE;
		if (i == NOISE_GOVERNOR)
			strcpy(n.system.governor, "powersave");
		if (i == NOISE_TURBO)
			strcpy(n.system.turbo, "on");
		if (i == NOISE_SMT)
			strcpy(n.system.threads, "3-4");
		n.coarse = i == NOISE_VERDICT;
		ok(alone(&n, i), "%s has one of its own: %s",
		   noise_line(&n, i).name, hint(&n, i));
	}
}

/* The text of a report; static storage. */
static const char *text_of(const struct noise *n)
{
	static char text[4096];
	FILE *f = fmemopen(text, sizeof text, "w");

	if (f == NULL)
		return "";
	noise_text(f, n);
	fclose(f);
	return text;
}

static void check_text(void)
{
	static const struct noise unknown = {
		.gaps = {{0, 0, -1, -1}, {-1, -1, -1, -1}},
		.steal = -1,
		.hz = -1,
		.steps = {0, -1, -1}};
	static const struct noise told = {
		.gaps = {{0.002, 250, 4000, 9100},
			 {0.03, 125, 4000000, 8000000}},
		.steal = 0.0125,
		.hz = 3694000000,
		.system = {"powersave", "off", "0,8"},
		.steps = {500, 0.025, 0.0019},
		.visible = 30,
		.apart = 260};
	const char *text = text_of(&unknown);

	ok(strstr(text, "interrupts 0.00% of the time, 0 a second\n") &&
		   strstr(text, "preemption not visible here; interrupts "
				"include it") &&
		   strstr(text, "steal not visible here\n") &&
		   strstr(text, "rate 0.0 steps a second\n") &&
		   strstr(text, "smt not visible here\n"),
	   "a system that tells nothing");
	text = text_of(&told);
	ok(strstr(text, "interrupts 0.20% of the time, 250 a second, median "
			"4.0 us, longest 9.1 us\n") &&
		   strstr(text, "preemption 3.00% of the time, 125 a second, "
				"median 4000.0 us, longest 8000.0 us; ") &&
		   strstr(text,
			  "steal 1.25% of the time when CPUs had work; ") &&
		   strstr(text, "governor powersave; cpupower") &&
		   strstr(text, "turbo off\n") && strstr(text, "smt 0,8; "),
	   "gaps and settings");
	ok(strstr(text, "rate 3694 MHz, 500.0 steps a second, of 2.5%, levels "
			"of 1.9 ms; ") &&
		   strstr(text, "verdict differences under 0.30% cannot be "
				"seen here with medians of 500 timed in turn, "
				"nor under 2.60% of those timed one after the "
				"other; that is"),
	   "the rate and the verdict");
}

/* Files that come one after the other, and what CPU 5 then has. */
static void check_tree(void)
{
	static const char governor[] = "/cpu5/cpufreq/scaling_governor";
	static const char no_turbo[] = "/intel_pstate/no_turbo";
	static const struct {
		const char *file, *text, *turbo, *governor, *what;
	} rows[] = {
		{governor, "powersave\n", "", "powersave", "a governor"},
		{"/cpufreq/boost", "1\n", "on", "powersave", "AMD's turbo"},
		{no_turbo, "1\n", "off", "powersave", "Intel's goes first"},
		{no_turbo, "0\n", "on", "powersave", "either way"},
		{"/cpufreq/boost", "", "on", "powersave", "without AMD's"},
		{no_turbo, "maybe\n", "", "powersave", "no number"},
		{governor, "a b\033[31m\n", "", "a b?[31m", "unprintable"},
		{governor, "a-name-of-more-than-31-characters\n", "", "",
		 "half a line is none"},
		{"/cpu5/topology/thread_siblings_list", "1,5\n", "", "",
		 "threads"},
	};
	char path[128];
	struct system s;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		snprintf(path, sizeof path, "%s%s", CPUS, rows[i].file);
		put_text(path, rows[i].text);
		system_read(root, 5, &s);
		ok(!strcmp(s.turbo, rows[i].turbo) &&
			   !strcmp(s.governor, rows[i].governor),
		   "%s", rows[i].what);
	}
	ok(!strcmp(s.threads, "1,5"), "%s", s.threads);
	system_read(root, 4, &s);
	ok(s.threads[0] == '\0', "another CPU has files of its own");
}

static void check_time(void)
{
	static const char stat[] = "/proc/stat";
	struct system_time t;

	ok(system_time(root, &t) < 0, "no /proc/stat");
	put_text(stat, "cpu  100 20 30 4000 500 6 7 80 9 1\ncpu0 1 2 3 4\n");
	ok(system_time(root, &t) == 0 && t.stolen == 80 && t.busy == 243,
	   "ticks busy and stolen");
	put_text(stat, "cpu  100 20 30 4000 500 6 7\n");
	ok(system_time(root, &t) < 0, "before Linux 2.6.11: none stolen");
	put_text(stat, "cpu0 100 20 30 4000 500 6 7 80 9 1\n");
	ok(system_time(root, &t) < 0, "not of all CPUs");
}

#define STRETCH 3e7    /* ns, of ten; in so many the neighbour is busy, */
static bool disturbed; /* every third window, for half its length */
static int busy;
static double longer; /* and independent instructions take longer. */
static double now;    /* ns; a cycle takes as long */

static long long pretended_ns(void)
{
	now += 20;
	return (long long)now;
}

static long long pretended_count(void)
{
	now += 10;
	return (long long)now;
}

static void pretended_chain(unsigned long turns)
{
	static int calls;

	now += 100. * (double)turns;
	if (disturbed && ++calls % 3 == 0)
		now += 6000;
}

static void pretended_loop(unsigned long turns)
{
	bool contended = (long long)(now / STRETCH) % 10 < busy;

	now += 2. * (double)turns * (contended ? longer : 1);
}

static struct noise find(int stretches, double by)
{
	struct noise n;

	memset(&n, 0, sizeof n);
	busy = stretches;
	longer = by;
	noise_windows(&n);
	return n;
}

static void check_turns_of(void)
{
	unsigned long turns;

	disturbed = true;
	turns = noise_turns(pretended_chain);
	disturbed = false;
	ok(turns > WINDOW_NS / 105 && turns <= WINDOW_NS / 100,
	   "a window of 10 us takes %lu turns, interrupted or not", turns);
}

static void check_neighbour(void)
{
	struct noise n;

	cpucycles = pretended_count;
	n = find(0, 1);
	ok(n.steps.persecond == 0 && n.steps.size < 0, "no steps, of no size");
	ok(n.visible < 20, "no neighbour: differences of %g in 10000",
	   n.visible);
	n = find(9, 1.3);
	ok(bounded(1000, n.visible, 10000, "in 10000") &&
		   n.steps.persecond == 0 && noise_status(&n) == TOOL_FINDING &&
		   strstr(hint(&n, NOISE_VERDICT), "hardware thread"),
	   "one that is busy for nine tenths of the time: %g", n.visible);
}

int main(void)
{
	make_base("unit_noise");
	check_turns_of();
	check_neighbour();
	check_scatter();
	check_verdict();
	check_turns();
	check_lost();
	check_steps();
	check_hints();
	check_text();
	check_tree();
	check_time();
	return done_testing();
}
