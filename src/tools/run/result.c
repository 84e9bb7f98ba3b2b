/* SPDX-License-Identifier: 0BSD */
/* The numbers of a command's runs: in lines or JSON for programs, and in a
 * table for people. */
#include <config.h>
#include <string.h>
#include "cpucycles.h"
#include "run.h"
#include "../common/json.h"
#include "../common/stats.h"
#include "../common/terminal.h"
#include "../common/tool.h"

#define WORD 32
#define ESTIMATED 3 /* digits that are worth to be read */
#define DIGITS 4

/* With as many digits for programs. Units for people: from the largest one,
 * each 1000 of the next. */
static const struct {
	const char *name, *people;
	int digits;
	double unit;
	const char *units[6];
	double largest;
} names[ROWS] = {
	{"cycles", "cycles", 0, 1, {"T", "G", "M", "k", ""}, 1e12},
	{"instructions", "instructions", 0, 1, {"T", "G", "M", "k", ""}, 1e12},
	{"instructions_per_cycle", "per cycle", 3, RATIO_UNIT, {""}, 1},
	{"user_seconds", "user time", 6, NS, {"s", "ms", "us"}, 1},
	{"system_seconds", "system time", 6, NS, {"s", "ms", "us"}, 1},
	{"wall_seconds", "elapsed", 6, NS, {"s", "ms", "us"}, 1},
	{"persecond", "rate", 0, 1, {"GHz", "MHz", "kHz", "Hz"}, 1e9},
};

/* Of a row's values. */
struct spread {
	double median, least, most, deviation; /* in units; < 0: unknown */
};

static struct spread result_spread(long long *values, int n, double unit)
{
	const double median = (double)stats_median(values, n);
	double sum = 0, mean, squares = 0, off;
	int i;

	for (i = 0; i < n; i++)
		sum += (double)values[i];
	mean = sum / n;
	for (i = 0; i < n; i++) {
		off = (double)values[i] - mean;
		squares += off * off;
	}
	return (struct spread){median / unit, (double)values[0] / unit,
			       (double)values[n - 1] / unit,
			       n > 1 ? stats_root(squares / (n - 1)) / unit
				     : 0};
}

void result_number(FILE *f, const char *name, int digits, double value)
{
	if (run.form == FORM_JSON)
		json_print(name, value < 0 ? "null" : "%.*f", digits, value);
	else if (value >= 0)
		fprintf(f, "%-30s %.*f\n", name, digits, value);
}

/* A row as lines or JSON. */
static void result_row(FILE *f, const char *title, int row,
		       const struct spread *s, int runs)
{
	const bool known = s->median > 0 && s->least >= 0;
	char name[64];
	int n;

	n = snprintf(name, sizeof name, "%s%s", title, names[row].name);
	result_number(f, name, names[row].digits, s->median);
	if (runs < 2)
		return;
	snprintf(name + n, sizeof name - (size_t)n, "_spread");
	result_number(f, name, 4,
		      known ? (s->most - s->least) / s->median : -1);
	snprintf(name + n, sizeof name - (size_t)n, "_deviation");
	result_number(f, name, 4, known ? s->deviation / s->median : -1);
	snprintf(name + n, sizeof name - (size_t)n, "_minimum");
	result_number(f, name, names[row].digits, s->least);
	snprintf(name + n, sizeof name - (size_t)n, "_maximum");
	result_number(f, name, names[row].digits, s->most);
}

/* Such as "3.02 G". Static storage, for four. */
static const char *result_word(int row, double value)
{
	static char texts[4][WORD];
	static int last;
	int digits = DIGITS - 1, unit = 0;
	double one = names[row].largest;

	if (run.estimated && (row == CYCLES || row == RATE))
		digits = ESTIMATED - 1;
	for (; value < one && names[row].units[unit + 1] != NULL; unit++)
		one /= 1000;
	value /= one;
	if (one <= 1 && *names[row].units[unit] == '\0' && row != RATIO)
		digits = 0;
	digits -= digits > 0 ? (value >= 10) + (value >= 100) : 0;
	last = (last + 1) % 4;
	snprintf(texts[last], sizeof texts[last], "%.*f%s%s", digits, value,
		 *names[row].units[unit] != '\0' ? " " : "",
		 names[row].units[unit]);
	return texts[last];
}

#define NAME 14
#define COLUMN 11 /* wide, on the right */
#define WIDE (NAME + 4 * COLUMN)

static void result_table_row(int row, const struct spread *s, int runs)
{
	char off[WORD] = "0%";

	if (s->median < 0)
		return;
	if (runs < 2) {
		terminal_row(NAME, names[row].people, "%*s", COLUMN,
			     result_word(row, s->median));
		return;
	}
	if (s->median > 0)
		snprintf(off, sizeof off, "%.1f%%",
			 s->deviation / s->median * 100);
	if (terminal_width() >= WIDE)
		terminal_row(NAME, names[row].people, "%*s%*s%*s%*s", COLUMN,
			     result_word(row, s->median), COLUMN, off, COLUMN,
			     result_word(row, s->least), COLUMN,
			     result_word(row, s->most));
	else
		terminal_row(NAME, names[row].people, "%s +- %s, %s to %s",
			     result_word(row, s->median), off,
			     result_word(row, s->least),
			     result_word(row, s->most));
}

/* The words of the command, or as many as there is room for. */
static void result_title(const struct command *c, const char *title)
{
	char text[512];
	size_t at = 0;
	int i;

	for (i = 3; c->words[i] != NULL && at < sizeof text; i++)
		at += (size_t)snprintf(text + at, sizeof text - at, " %s",
				       c->words[i]);
	terminal_print(0, TERMINAL_INDENT, "%s:%s", title, text);
}

/* In a comparison, JSON has an object for each, and lines a prefix. */
void result_print(FILE *f, struct command *c, const char *title)
{
	struct spread s;
	char prefix[WORD] = "", name[64];
	int i;

	if (title != NULL && run.form == FORM_JSON)
		json_open(title, '{');
	else if (title != NULL && run.form == FORM_LINES)
		snprintf(prefix, sizeof prefix, "%s_", title);
	else if (title != NULL)
		result_title(c, title);
	if (run.form == FORM_PEOPLE && c->runs > 1 && terminal_width() >= WIDE)
		terminal_row(NAME, "", "%*s%*s%*s%*s", COLUMN, "median", COLUMN,
			     "+-", COLUMN, "minimum", COLUMN, "maximum");
	for (i = 0; i < ROWS; i++) {
		s = result_spread(c->rows[i], c->runs, names[i].unit);
		if (run.form == FORM_PEOPLE)
			result_table_row(i, &s, c->runs);
		else
			result_row(f, prefix, i, &s, c->runs);
	}
	if (run.form == FORM_PEOPLE) {
		putc('\n', f);
		return;
	}
	snprintf(name, sizeof name, "%scycles_error", prefix);
	result_number(f, name, 4, (double)stats_median(c->off, c->runs) / 1e6);
	snprintf(name, sizeof name, "%sruns", prefix);
	result_number(f, name, 0, c->runs);
	if (title != NULL && run.form == FORM_JSON)
		json_close('}');
}

/* For programs, words that do not change. */
static const char *result_found(void)
{
	static char text[80];

	if (run.counted) {
		snprintf(text, sizeof text,
			 "counted by the PMU%s, %.0f%% of the time",
			 run.user ? " in user mode" : "", run.share * 100);
		return text;
	}
	return !run.estimated ? "not estimated: no rate can be measured"
	       : run.load     ? "estimated, beside load"
			      : "estimated, on a quiet machine";
}

static void result_people(struct command *c, const char *why)
{
	const double off = (double)stats_median(c->off, c->runs);
	char runs[80] = "", may[80] = "";

	if (run.wanted > 1)
		snprintf(runs, sizeof runs, "%d of %d runs%s. ", c->runs,
			 run.wanted, run.commands > 1 ? " of each" : "");
	if (off >= 0)
		snprintf(may, sizeof may, ", and may be off by %.*f%%",
			 off < 1e5, off / 1e4);
	terminal_print(0, 0, "%sCycles are %s%s%s%s.", runs, result_found(),
		       may, *why != '\0' ? "; not counted: " : "", why);
}

void result_how(FILE *f, struct command *c)
{
	struct cpucycles_counter e;
	char text[512];
	const char *why;

	cpucycles_counterbyname("default-perfevent", &e, sizeof e);
	why = run.counted ? "" : tool_why(&e);
	if (run.form == FORM_PEOPLE) {
		result_people(c, why);
		return;
	}
	snprintf(text, sizeof text, "%s%s%s", result_found(),
		 run.counted ? "" : "; not counted: ", why);
	if (run.form == FORM_JSON)
		json_text("how", text);
	else
		fprintf(f, "%-30s %s\n", "how", text);
}
