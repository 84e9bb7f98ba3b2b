/* SPDX-License-Identifier: 0BSD */
/* Prints the disturbances of timings, with advice, as text and as JSON. */
#include <config.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "noise.h"
#include "noise_text.h"
#include "../common/json.h"
#include "../common/tool.h"

#define LOST 0.05 /* of the time; more is a finding */

static const char *const noise_names[NOISE_ITEMS] = {
	"interrupts", "preemption", "steal", "dither", "rate",
	"governor",   "turbo",      "smt",   "verdict"};

/* Medians leave out what was interrupted, however much that is. */
static bool noise_lost(const struct noise *n)
{
	double others = n->gaps[NOISE_PREEMPTION].share;

	return n->gaps[NOISE_INTERRUPTS].share + (others > 0 ? others : 0) >
	       LOST;
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

/* Advice; NULL: none is needed. */
static const char *noise_hint(const struct noise *n, enum noise_item item)
{
	const bool told = n->gaps[NOISE_PREEMPTION].share >= 0;
	const char *const hints[NOISE_ITEMS] = {
		"move devices' interrupts to other CPUs "
		"(/proc/irq/*/smp_affinity), boot with nohz_full=",
		told ? "stop other programs, or measure on a CPU that they do "
		       "not use: taskset, isolcpus="
		     : "interrupts include it, as the kernel does not report "
		       "it",
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
		n->gaps[NOISE_PREEMPTION].share >= 0.001 || !told,
		n->steal > 0,
		n->worst >= 0.01,
		n->steps.persecond > 0,
		s->governor[0] != '\0' &&
			strcmp(s->governor, "performance") != 0,
		strcmp(s->turbo, "on") == 0,
		strpbrk(s->threads, ",-") != NULL,
		n->coarse || noise_lost(n) || n->visible > NOISE_LIMIT ||
			n->apart > NOISE_LIMIT};

	return wanted[item] ? hints[item] : NULL;
}

static int noise_status(const struct noise *n)
{
	return n->visible > NOISE_LIMIT || noise_lost(n) ? TOOL_FINDING
							 : TOOL_GOOD;
}

#define IN(member) offsetof(struct noise, member)

/* Numbers; those of interruptions are those of preemptions, too. */
/* clang-format off */
static const struct {
	int item, digits;
	const char *key, *before, *after; /* in JSON; in the text */
	double scale, unit; /* of the text; of JSON */
	size_t at;          /* in struct noise: a double */
} noise_facts[] = {
	{NOISE_INTERRUPTS, 2, "share", "", "% of the time", 100, 1, IN(gaps[0].share)},
	{NOISE_INTERRUPTS, 0, "per_second", "", " a second", 1, 1, IN(gaps[0].persecond)},
	{NOISE_INTERRUPTS, 1, "median_ns", "median ", " us", 1e-3, 1, IN(gaps[0].median)},
	{NOISE_INTERRUPTS, 1, "longest_ns", "longest ", " us", 1e-3, 1, IN(gaps[0].longest)},
	{NOISE_STEAL, 2, "share", "", "% of the time when CPUs had work", 100, 1, IN(steal)},
	{NOISE_DITHER, 2, "share", "", "% from quartile to quartile", 100, 1, IN(dither)},
	{NOISE_DITHER, 2, "worst", "", "% in the worst batch", 100, 1, IN(worst)},
	{NOISE_RATE, 0, "hz", "", " MHz", 1e-6, 1, IN(hz)},
	{NOISE_RATE, 1, "per_second", "", " steps a second", 1, 1, IN(steps.persecond)},
	{NOISE_RATE, 1, "size", "of ", "%", 100, 1, IN(steps.size)},
	{NOISE_RATE, 1, "seconds", "levels of ", " ms", 1e3, 1, IN(steps.lasted)},
	{NOISE_VERDICT, 2, "difference", "differences under ", "% cannot be seen here with "
	 "medians of 500 timed in turn", 0.01, 1e-4, IN(visible)},
	{NOISE_VERDICT, 2, "apart", "nor under ", "% of those timed one after the other",
	 0.01, 1e-4, IN(apart)},
};
/* clang-format on */

#define FACTS (sizeof noise_facts / sizeof *noise_facts)

/* NULL: fact i is of another item. */
static const double *noise_fact(const struct noise *n, int item, size_t i)
{
	size_t at = noise_facts[i].at;

	if (item == NOISE_PREEMPTION) {
		item = NOISE_INTERRUPTS;
		at += sizeof *n->gaps;
	}
	return noise_facts[i].item == item
		       ? (const double *)(const void *)((const char *)n + at)
		       : NULL;
}

/* What the system says, "" if it does not; NULL for items of numbers. */
static const char *noise_word(const struct noise *n, int item)
{
	return item == NOISE_GOVERNOR ? n->system.governor
	       : item == NOISE_TURBO  ? n->system.turbo
	       : item == NOISE_SMT    ? n->system.threads
				      : NULL;
}

static void noise_text(FILE *f, const struct noise *n)
{
	const char *word, *hint, *comma;
	const double *value;
	int item;
	size_t i;

	for (item = 0; item < NOISE_ITEMS; item++) {
		fprintf(f, "cpucycles noise %s ", noise_names[item]);
		comma = word = noise_word(n, item);
		for (i = 0; i < FACTS; i++) {
			value = noise_fact(n, item, i);
			if (value == NULL || *value < 0)
				continue;
			fprintf(f, "%s%s%.*f%s", comma != NULL ? ", " : "",
				noise_facts[i].before, noise_facts[i].digits,
				*value * noise_facts[i].scale,
				noise_facts[i].after);
			comma = ", ";
		}
		if (comma == NULL || *comma == '\0')
			word = "not visible here";
		hint = noise_hint(n, (enum noise_item)item);
		fprintf(f, "%s%s%s\n", word != NULL ? word : "",
			hint != NULL ? "; " : "", hint != NULL ? hint : "");
	}
}

static void noise_json_word(const char *key, const char *word)
{
	if (word != NULL && *word != '\0')
		json_text(key, word);
	else
		json_print(key, "null");
}

int noise_json(void)
{
	const struct noise *n = noise_measure();
	const double *value;
	int item;
	size_t i;

	json_open("noise", '{');
	for (item = 0; item < NOISE_ITEMS; item++) {
		json_open(noise_names[item], '{');
		for (i = 0; i < FACTS; i++) {
			value = noise_fact(n, item, i);
			if (value != NULL)
				json_print(noise_facts[i].key,
					   *value < 0 ? "null" : "%.9g",
					   *value * noise_facts[i].unit);
		}
		if (noise_word(n, item) != NULL)
			noise_json_word("setting", noise_word(n, item));
		noise_json_word("hint", noise_hint(n, (enum noise_item)item));
		json_close('}');
	}
	json_close('}');
	return noise_status(n);
}

int noise_print(const struct request *r)
{
	const struct noise *n = noise_measure();

	(void)r;
	printf("cpucycles implementation %s\n", cpucycles_implementation());
	noise_text(stdout, n);
	return noise_status(n);
}
