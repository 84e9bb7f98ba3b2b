/* SPDX-License-Identifier: 0BSD */
/* Prints the disturbances of timings, with advice. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "noise_text.h"
#include "../common/tool.h"

const char *const noise_names[NOISE_ITEMS] = {
	"interrupts", "preemption", "steal", "dither", "rate",
	"governor",   "turbo",      "smt",   "verdict"};

/* Medians leave out what was interrupted, however much that is. */
static bool noise_lost(const struct noise *n)
{
	return n->gaps[NOISE_INTERRUPTS].share +
		       n->gaps[NOISE_PREEMPTION].share >
	       NOISE_LOST;
}

/* The reason why medians differ, or advice. */
static const char *noise_why(const struct noise *n)
{
	if (n->coarse)
		return "the counter's step alone is more than 1%: see "
		       "cpucycles-info for finer counters";
	if (noise_lost(n))
		return "do not believe it where the thread loses so much of "
		       "the time: see interrupts and preemption";
	if (n->visible > NOISE_LIMIT)
		return "independent instructions take longer at times, as "
		       "beside a busy hardware thread of the same core: "
		       "measure elsewhere, or later";
	if (n->steps.persecond > 0)
		return "that is the rate's steps: let what is compared take "
		       "turns";
	return "let what is compared take turns";
}

const char *noise_hint(const struct noise *n, enum noise_item item)
{
	const char *const hints[NOISE_ITEMS] = {
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
		noise_why(n)};
	const struct system *s = &n->system;
	const bool wanted[NOISE_ITEMS] = {
		n->gaps[NOISE_INTERRUPTS].share >= 0.005,
		n->gaps[NOISE_PREEMPTION].share >= 0.001,
		n->steal > 0,
		n->worst >= 0.01,
		n->moved >= 0.005 || n->steps.persecond > 0,
		s->governor[0] != '\0' &&
			strcmp(s->governor, "performance") != 0,
		s->turbo == 1,
		system_several(s->threads),
		n->coarse || noise_lost(n) || n->visible > NOISE_LIMIT ||
			n->apart > NOISE_LIMIT};

	return wanted[item] ? hints[item] : NULL;
}

int noise_status(const struct noise *n)
{
	return n->visible > NOISE_LIMIT || noise_lost(n) ? TOOL_FINDING
							 : TOOL_GOOD;
}

static void noise_gaps_text(FILE *f, const struct noise *n,
			    enum noise_item item)
{
	const struct noise_gaps *g = &n->gaps[item];

	if (item == NOISE_PREEMPTION && !n->told)
		fprintf(f, "not reported by the kernel, counted as interrupts");
	else if (g->longest == 0)
		fprintf(f, "none in %.1f s", (double)NOISE_LISTEN_NS / 1e9);
	else
		fprintf(f,
			"%.2f%% of the time, %.0f a second, median %.1f us, "
			"longest %.1f us",
			g->share * 100, g->persecond, (double)g->median / 1e3,
			(double)g->longest / 1e3);
}

static void noise_rate_text(FILE *f, const struct noise *n)
{
	const struct rate_summary *s = &n->steps;

	if (n->hz > 0)
		fprintf(f, "%.0f MHz, ", (double)n->hz / 1e6);
	if (s->persecond > 0)
		fprintf(f, "%.*f steps of %.1f%% a second, levels of %.1f ms, ",
			s->persecond < 9.5, s->persecond, s->size * 100,
			s->lasted * 1e3);
	else
		fprintf(f, "no steps, ");
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
			"medians of %d timed in turn, nor under %.2f%% of "
			"those timed one after the other",
			n->visible / 1e2, NOISE_HALF, n->apart / 1e2);
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
