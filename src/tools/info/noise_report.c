/* SPDX-License-Identifier: 0BSD */
/* Prints what disturbs timings here now, with advice: for programs, in lines or
 * JSON, and for people, the verdict and a table. */
#include <config.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "noise.h"
#include "../common/json.h"
#include "../common/tool.h"

#define LOST 0.05     /* of the time; more is a finding */
#define TABLE_WHAT 12 /* columns of the first column */

/* Medians leave out what was interrupted, however much that is. */
static bool noise_lost(const struct noise *n)
{
	double others = n->gaps[NOISE_PREEMPTION].share;

	return n->gaps[NOISE_INTERRUPTS].share + (others > 0 ? others : 0) >
	       LOST;
}

/* Advice on the verdict; NULL: none is needed. */
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
	if (n->apart > NOISE_LIMIT && n->steps.persecond != 0)
		return n->steps.persecond > 0
			       ? "that is the rate's steps: let what is "
				 "compared take turns"
			       : "the rate wanders: let what is compared take "
				 "turns";
	return n->apart > NOISE_LIMIT ? "let what is compared take turns"
				      : NULL;
}

/* What the system says: "" if it does not, NULL where there are numbers.
 * Advice: NULL if none is wanted. */
struct noise_line {
	const char *name, *word, *hint;
	bool wanted;
};

static struct noise_line noise_line(const struct noise *n, int item)
{
	const double others = n->gaps[NOISE_PREEMPTION].share;
	const struct system *s = &n->system;
	struct noise_line lines[NOISE_ITEMS] = {
		{"interrupts", NULL,
		 "move devices' interrupts to other CPUs "
		 "(/proc/irq/*/smp_affinity), boot with nohz_full=",
		 n->gaps[NOISE_INTERRUPTS].share >= 0.005},
		{"preemption", NULL,
		 others < 0 ? "interrupts include it, as the kernel does not "
			      "report it"
			    : "stop other programs, or measure on a CPU that "
			      "they do not use: taskset, isolcpus=",
		 others < 0 || others >= 0.001},
		{"steal", NULL,
		 "other virtual machines use the same CPUs: measure on another "
		 "machine, or later",
		 n->steal > 0},
		{"dither", NULL,
		 "keep the other CPUs idle, those of the same core above all, "
		 "and the rate fixed",
		 n->worst >= 0.01},
		{"rate", NULL, "warm up, and let what is compared take turns",
		 n->steps.persecond != 0},
		{"governor", s->governor,
		 "cpupower frequency-set -g performance",
		 *s->governor != '\0' &&
			 strcmp(s->governor, "performance") != 0},
		{"turbo", s->turbo,
		 "turn it off meanwhile: 1 to /sys/devices/system/cpu/"
		 "intel_pstate/no_turbo, or 0 to cpufreq/boost there",
		 strcmp(s->turbo, "on") == 0},
		{"smt", s->threads, "keep the other threads of this core idle",
		 strpbrk(s->threads, ",-") != NULL},
		{"verdict", NULL, noise_why(n), true}};

	if (!lines[item].wanted)
		lines[item].hint = NULL;
	return lines[item];
}

static int noise_status(const struct noise *n)
{
	return n->visible > NOISE_LIMIT || noise_lost(n) ? TOOL_FINDING
							 : TOOL_GOOD;
}

/* clang-format off */
#define IN(member) offsetof(struct noise, member)
#define GAPS_OF(item) \
	{item, 2, "share", "", "% of the time", 100, 1, IN(gaps[item].share)}, \
	{item, 0, "per_second", "", " a second", 1, 1, IN(gaps[item].persecond)}, \
	{item, 1, "median_ns", "median ", " us", 1e-3, 1, IN(gaps[item].median)}, \
	{item, 1, "longest_ns", "longest ", " us", 1e-3, 1, IN(gaps[item].longest)}

static const struct {
	int item, digits;
	const char *key, *before, *after; /* in JSON; in the text */
	double scale, unit; /* of the text; of JSON */
	size_t at;          /* in struct noise: a double */
} noise_facts[] = {
	GAPS_OF(NOISE_INTERRUPTS),
	GAPS_OF(NOISE_PREEMPTION),
	{NOISE_STEAL, 2, "share", "", "% of the time when CPUs had work", 100, 1, IN(steal)},
	{NOISE_DITHER, 2, "share", "", "% from quartile to quartile", 100, 1, IN(dither)},
	{NOISE_DITHER, 2, "worst", "", "% in the worst batch", 100, 1, IN(worst)},
	{NOISE_RATE, 0, "hz", "", " MHz", 1e-6, 1, IN(hz)},
	{NOISE_RATE, 1, "per_second", "", " steps a second", 1, 1, IN(steps.persecond)},
	{NOISE_RATE, 1, "size", "of ", "%", 100, 1, IN(steps.size)},
	{NOISE_RATE, 1, "seconds", "levels of ", " ms", 1e3, 1, IN(steps.lasted)},
	{NOISE_RATE, 1, "change_1ms", "changes by ", "% in a ms", 100, 1, IN(wander[0])},
	{NOISE_RATE, 1, "change_10ms", "by ", "% in 10 ms", 100, 1, IN(wander[1])},
	{NOISE_VERDICT, 2, "difference", "differences under ", "% cannot be seen here with "
	 "medians of 500 timed in turn", 0.01, 1e-4, IN(visible)},
	{NOISE_VERDICT, 2, "apart", "nor under ", "% of those timed one after the other",
	 0.01, 1e-4, IN(apart)},
};
/* clang-format on */

#define FACTS (sizeof noise_facts / sizeof *noise_facts)

static double noise_fact(const struct noise *n, size_t i)
{
	return *(const double *)(const void *)((const char *)n +
					       noise_facts[i].at);
}

/* What is said of an item, without advice. Static storage. */
static const char *noise_said(const struct noise *n, int item, const char *word)
{
	static char text[512];
	size_t i, at = 0;

	text[0] = '\0';
	if (word != NULL)
		at = (size_t)snprintf(text, sizeof text, "%s", word);
	for (i = 0; i < FACTS; i++) {
		if (noise_facts[i].item != item || noise_fact(n, i) < 0)
			continue;
		at += (size_t)snprintf(text + at, sizeof text - at,
				       "%s%s%.*f%s", at > 0 ? ", " : "",
				       noise_facts[i].before,
				       noise_facts[i].digits,
				       noise_fact(n, i) * noise_facts[i].scale,
				       noise_facts[i].after);
	}
	return at > 0 ? text : "not visible here";
}

static void noise_lines(FILE *f, const struct noise *n)
{
	struct noise_line line;
	int item;

	for (item = 0; item < NOISE_ITEMS; item++) {
		line = noise_line(n, item);
		fprintf(f, "cpucycles noise %s %s%s%s\n", line.name,
			noise_said(n, item, line.word),
			line.hint != NULL ? "; " : "",
			line.hint != NULL ? line.hint : "");
	}
}

/* The verdict, in a sentence. */
static void noise_sentence(const struct noise *n)
{
	const double turns = n->visible / 100, apart = n->apart / 100;
	const double others = n->gaps[NOISE_PREEMPTION].share;
	const char *hint = noise_why(n);

	if (noise_lost(n))
		terminal_print(0, 0,
			       "Too noisy: interrupts and other threads take "
			       "%.0f%% of the time.",
			       (n->gaps[NOISE_INTERRUPTS].share +
				(others > 0 ? others : 0)) *
				       100);
	else if (n->visible > NOISE_LIMIT)
		terminal_print(0, 0,
			       "Too noisy: differences under %.1f%% cannot be "
			       "seen; %s.",
			       turns, hint);
	else
		terminal_print(
			0, 0,
			"Quiet enough: differences of %.2f%% can be seen "
			"if what is compared takes turns, else of "
			"%.2f%%%s%s.",
			turns, apart > turns ? apart : turns,
			hint != NULL ? "; " : "", hint != NULL ? hint : "");
}

/* What, how much, and what would help. */
static void noise_table(const struct noise *n)
{
	struct noise_line line;
	const char *said;
	int item;

	noise_sentence(n);
	putchar('\n');
	for (item = 0; item < NOISE_VERDICT; item++) {
		line = noise_line(n, item);
		said = noise_said(n, item, line.word);
		if (item == NOISE_SMT && *line.word != '\0')
			said = line.hint != NULL ? "on, the CPUs of this core: "
						 : "no other CPU of this core "
						   "is visible: ";
		terminal_row(TABLE_WHAT, line.name, "%s%s", said,
			     item == NOISE_SMT ? line.word : "");
		if (line.hint != NULL)
			terminal_row(TABLE_WHAT, "", "help: %s", line.hint);
	}
}

int noise_print(void)
{
	struct noise n;

	noise_measure(&n);
	if (request.lines) {
		printf("cpucycles implementation %s\n",
		       cpucycles_implementation());
		noise_lines(stdout, &n);
	} else
		noise_table(&n);
	return noise_status(&n);
}

int noise_json(void)
{
	struct noise_line line;
	struct noise n;
	double value;
	int item;
	size_t i;

	noise_measure(&n);
	json_open("noise", '{');
	for (item = 0; item < NOISE_ITEMS; item++) {
		line = noise_line(&n, item);
		json_open(line.name, '{');
		for (i = 0; i < FACTS; i++) {
			value = noise_fact(&n, i) * noise_facts[i].unit;
			if (noise_facts[i].item == item)
				json_print(noise_facts[i].key,
					   value < 0 ? "null" : "%.9g", value);
		}
		if (line.word != NULL)
			json_text("setting", *line.word ? line.word : NULL);
		json_text("hint", line.hint);
		json_close('}');
	}
	json_close('}');
	return noise_status(&n);
}
