/* SPDX-License-Identifier: 0BSD */
/* The parts of cpucycles-info --noise that compute, and those that read files,
 * on fake trees. The files are included, as their work is static. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "../src/tools/info/noise.c"
#include "../src/tools/info/noise_report.c"
#include "tree.h"

#define CPUS "/sys/devices/system/cpu"

/* "": none. */
static const char *hint(const struct noise *n, int item)
{
	const char *h = noise_line(n, item).hint;

	return h != NULL ? h : "";
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
	return verdict(n, apart, step).visible;
}

static void check_verdict(void)
{
	static long long none[BATCHES];
	struct noise n = verdict(0, 0, 0);

	ok(visible(0, 0, 38) == 11,
	   "a count tells no less than its step, rounded up");
	ok(visible(1, 740, 0) == 0, "a batch of 64 that was disturbed");
	ok(visible(2, 740, 0) == 200 && visible(2, -740, 0) == 200,
	   "two: one of 20 pairs has one of them");
	ok(visible(16, 370, 999) == 270, "the larger of scatter and step");
	ok(visible(16, 40000, 0) == 10000,
	   "nothing above the whole can be told");
	n.visible = 100;
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
	struct noise n = {.steal = 0};
	int i;

	for (i = 0; i < BATCHES; i++) {
		chain[i] = i % 2 ? 37000 : 38000;
		wide[i] = chain[i] * 2;
		steady[i] = 74000;
	}
	noise_verdict(&n, chain, wide, 0);
	ok(n.visible == 0 && n.apart == 271 && noise_status(&n) == TOOL_GOOD,
	   "in turn and apart: %g, %g", n.visible, n.apart);
	ok(!strcmp(hint(&n, NOISE_VERDICT), "let what is compared take turns"),
	   "medians that differ over time are to be timed in turn");
	noise_verdict(&n, chain, steady, 0);
	ok(n.visible > 260 && n.apart == 271 &&
		   strstr(hint(&n, NOISE_VERDICT), "hardware thread"),
	   "only one changes, as beside a hardware thread: %g", n.visible);
}

/* Medians are the same however much of the time others have. */
static void check_lost(void)
{
	struct noise n = verdict(0, 0, 0);

	n.gaps[NOISE_INTERRUPTS].share = 0.02;
	n.gaps[NOISE_PREEMPTION].share = 0.029;
	ok(noise_status(&n) == TOOL_GOOD, "4.9%% of the time lost");
	n.gaps[NOISE_PREEMPTION].share = 0.031;
	ok(noise_status(&n) == TOOL_FINDING &&
		   strstr(hint(&n, NOISE_VERDICT), "see interrupts"),
	   "5.1%% lost, most of it to other threads, is a finding");
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

static void check_steps(void)
{
	struct rate_summary s = stepping(200, 2.5, 0);
	struct rate_steps drift = {0};
	int i;

	ok(s.persecond > 490 && s.persecond < 510 && s.size > 0.02 &&
		   s.size < 0.03 && s.lasted > 0.0019 && s.lasted < 0.0021,
	   "500 steps of 2.5%%: %.0f of %.1f%%, levels of %.2f ms", s.persecond,
	   s.size * 100, s.lasted * 1e3);
	ok(stepping(200, 0.8, 0).persecond == 0, "less than 1%% is no step");
	ok(stepping(2, 20, 0).persecond == 0, "two windows are no level");
	ok(stepping(200, 2.5, 300).persecond == 0,
	   "nor is a difference within the clock's step");
	for (i = 0; i < 20000; i++)
		rate_steps_add(&drift, 1000 + i * 10000LL, 10000 + i / 10, 0);
	ok(rate_steps_sum(&drift).persecond == 0, "a drift has no steps");
}

/* A core whose rate changes by `size` percent every so many windows, one of 20
 * interrupted for long, as by other threads, in bursts of `burst`. */
static struct noise wandering(int stretch, double size, int burst)
{
	static struct noise_rate r;
	struct noise n = {.steal = 0};
	long long length;
	int i;

	memset(&r, 0, sizeof r);
	for (i = 0; i < GROUPS * GROUP; i++) {
		length = 10000 + i % 7;
		if (i / stretch % 2)
			length += (long long)(size * 100);
		if (i / burst % 20 == 19)
			length += 7000;
		noise_rate_add(&r, 1000 + i * 20000LL, length);
	}
	noise_rate_sum(&n, &r);
	return n;
}

static void check_wander(void)
{
	struct noise n = wandering(2500, 3, 5);

	ok(n.steps.persecond > 18 && n.steps.persecond < 22 &&
		   n.steps.size < 0.04 && n.wander[0] < 0.01,
	   "levels of 50 ms, windows interrupted in fives: %.0f steps of "
	   "%.1f%%",
	   n.steps.persecond, n.steps.size * 100);
	n = wandering(2500, 0, 5);
	ok(n.steps.persecond == 0 && n.wander[1] < 0.001,
	   "interruptions alone are no steps, and no change");
	n = wandering(100, 3, 1);
	ok(n.steps.persecond < 0 && n.steps.size < 0 && n.wander[0] > 0.02 &&
		   n.wander[0] < 0.04,
	   "levels of 2 ms: it wanders, by %.1f%% in a ms", n.wander[0] * 100);
	n.apart = 260;
	ok(strstr(hint(&n, NOISE_VERDICT), "the rate wanders") != NULL,
	   "which the verdict says");
}

static void check_text(void)
{
	static const struct noise told = {
		.gaps = {{0.002, 250, 4000, 9100},
			 {0.03, 125, 4000000, 8000000}},
		.steal = -1,
		.dither = 0.001,
		.worst = 0.08,
		.hz = 3694000000,
		.system = {"powersave", "off", "0,8"},
		.steps = {500, 0.025, 0.0019},
		.wander = {0.021, -1},
		.visible = 30,
		.apart = 260};
	static char text[4096];
	FILE *f = fmemopen(text, sizeof text, "w");

	if (f == NULL)
		die("fmemopen");
	noise_lines(f, &told);
	fclose(f);
	ok(strstr(text, "interrupts 0.20% of the time, 250 a second, median "
			"4.0 us, longest 9.1 us\n") &&
		   strstr(text, "preemption 3.00% of the time, 125 a second, "
				"median 4000.0 us, longest 8000.0 us; "),
	   "gaps, with a hint if they are long");
	ok(strstr(text, "governor powersave; cpupower") != NULL, "a hint");
	ok(strstr(text, "dither 0.10% from quartile to quartile, 8.00% in the "
			"worst batch; ") &&
		   strstr(text, "rate 3694 MHz, 500.0 steps a second, of 2.5%, "
				"levels of 1.9 ms, changes by 2.1% in a "
				"ms; ") &&
		   strstr(text, "verdict differences under 0.30% cannot be "
				"seen here with medians of 500 timed in turn, "
				"nor under 2.60% of those timed one after the "
				"other; that is the rate's steps"),
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
		{no_turbo, "maybe\n", "on", "powersave", "no number"},
		{governor, "a b\033[31m\n", "on", "a b?[31m", "unprintable"},
		{governor, "a-name-of-more-than-31-characters\n", "on", "",
		 "half a line is none"},
		{"/cpu5/topology/thread_siblings_list", "1,5\n", "on", "",
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
}

static void check_time(void)
{
	static const char stat[] = "/proc/stat";
	struct system_time t;

	put_text(stat, "cpu  100 20 30 4000 500 6 7 80 9 1\ncpu0 1 2 3 4\n");
	ok(system_time(root, &t) == 0 && t.stolen == 80 && t.busy == 243,
	   "ticks busy and stolen");
}

int main(void)
{
	make_base("unit_noise");
	check_verdict();
	check_turns();
	check_lost();
	check_steps();
	check_wander();
	check_text();
	check_tree();
	check_time();
	return done_testing();
}
