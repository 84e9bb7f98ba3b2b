/* SPDX-License-Identifier: 0BSD */
/* The report for people, on a terminal: a sentence, a table of the counters,
 * and a line for each of the other facts. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "info.h"
#include "../common/system.h"
#include "../common/tool.h"

#define GAP 2
#define KIND 10                /* "calibrated" */
#define TEXT TERMINAL_TEXT     /* with fewer columns there is no table */
#define INDENT TERMINAL_INDENT /* of what follows a line's first */

/* A rate for eyes: digits that are the same a second later. Static storage. */
const char *table_hz(double hz)
{
	static char text[32];

	if (hz < 1e9)
		snprintf(text, sizeof text, "%.0f MHz", hz / 1e6);
	else
		snprintf(text, sizeof text, "%.2f GHz", hz / 1e9);
	return text;
}

/* What a report on a machine begins with. */
static void table_machine(const struct cpucycles_counter *c)
{
	char clock[80] = "";
	struct machine m;

	/* Cycles per second, of cycles per tick: a raw counter has no clock,
	 * and the system's is in ns. */
	if (c->kind_id == CPUCYCLES_CALIBRATED ||
	    c->kind_id == CPUCYCLES_REFERENCE)
		snprintf(clock, sizeof clock, ", %s %s", report_clock(c),
			 table_hz((double)cpucycles_persecond() / c->scaling));
	machine_find(&m);
	terminal_print(0, 0, "libcpucycles %s, %s%s, %s", cpucycles_version(),
		       m.cpu, clock, m.system);
}

/* Whether this counter is a better one, and the best so far is none, or a
 * variant of it with the same needs: amd64-perfpmcff is one of amd64-perfpmc
 * that not every CPU has. */
static bool table_better(const struct cpucycles_counter *c,
			 const struct cpucycles_counter *used,
			 const struct cpucycles_counter *best)
{
	if (c->kind_id >= used->kind_id || c->hint[0] == '\0' ||
	    strncmp(c->name, "default-", 8) == 0)
		return false;
	return best->name == NULL ||
	       (strncmp(best->name, c->name, strlen(c->name)) == 0 &&
		strcmp(best->reason, c->reason) == 0);
}

/* What counts here, and what would be better: truer, and not by system calls,
 * which take longer than any clock's step. */
static void table_sentence(const struct cpucycles_counter *c, double hz)
{
	struct cpucycles_counter better, best = {.name = NULL};
	char now[64] = "", other[512] = "";
	unsigned i;

	if (hz > 0)
		snprintf(now, sizeof now, "; the core runs at %s now",
			 table_hz(hz));
	for (i = 0; cpucycles_counter(i, &better, sizeof better) == 0; i++)
		if (table_better(&better, c, &best))
			best = better;
	if (best.name != NULL)
		snprintf(other, sizeof other, "; %s would be better, but %s",
			 best.name, tool_why(&best));
	terminal_print(0, 0, "%s%s%s%s.", tool_counts(c),
		       c->per_thread ? ", of the thread alone"
		       : c->kind_id == CPUCYCLES_REFERENCE ||
				       c->kind_id == CPUCYCLES_OS
			       ? ", not cycles of the core"
			       : "",
		       now, other);
}

/* A line for a counter; where the terminal is narrow, two or more. */
static void table_row(int names, const char *name, const char *kind,
		      const char *text)
{
	if (names + GAP + KIND + GAP + TEXT <= terminal_width()) {
		names = printf("%-*s%-*s", names + GAP, name, KIND + GAP, kind);
		terminal_print(names, names, "%s", text);
	} else {
		printf("%s\n%*s", name, INDENT, "");
		terminal_print(INDENT, INDENT, "%s: %s", kind, text);
	}
}

/* Most that cannot be used have the reason of the one above. */
static void table_counters(const char *used)
{
	struct cpucycles_counter c;
	char why[sizeof c.reason + sizeof c.hint + 2] = "";
	char text[sizeof why];
	int names = 0;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if ((int)strlen(c.name) > names)
			names = (int)strlen(c.name);
	if (terminal_width() >= names + GAP + KIND + GAP + TEXT)
		table_row(names, "counter", "kind",
			  "step in cycles, or why it is not usable");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		if (c.usable && c.kind_id == CPUCYCLES_ZERO)
			snprintf(text, sizeof text, "counts nothing");
		else if (c.usable)
			snprintf(text, sizeof text, "%lld%s", c.step,
				 strcmp(c.name, used) ? "" : ", in use");
		else
			snprintf(text, sizeof text, "%s",
				 strcmp(why, tool_why(&c)) ? tool_why(&c)
							   : "the same");
		snprintf(why, sizeof why, "%s", c.usable ? "" : tool_why(&c));
		table_row(names, c.name, c.kind, text);
	}
}

static void table_note(const char *text)
{
	terminal_print(0, INDENT, "note: %s", text);
}

int table_print(void)
{
	const double hz = (double)cpucycles_observepersecond();
	struct cpucycles_counter c, other;
	char share[80] = "";
	double part;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	table_machine(&c);
	table_sentence(&c, hz);
	putchar('\n');
	table_counters(c.name);
	putchar('\n');
	terminal_print(
		0, INDENT,
		"rate: counts advance at %s (%s); --lines has all digits",
		table_hz((double)cpucycles_persecond()),
		cpucycles_persecondsource());
	if (c.kind_id == CPUCYCLES_CALIBRATED && (part = calls_share()) >= 0)
		snprintf(share, sizeof share,
			 "; %.2f%% of the time goes to measuring the rate, "
			 "uncounted",
			 part * 100);
	terminal_print(0, INDENT, "a call: %.0f cycles%s",
		       calls_measure(CALLS_FEW)->iqm, share);
	if (!c.per_thread)
		terminal_print(0, INDENT, "per thread: no: %s",
			       report_shared(&c));
	tool_instructions(&other);
	terminal_print(
		0, INDENT, "instructions: %s%s",
		other.usable ? other.name : "unavailable: ", tool_why(&other));
	report_notes(&c, table_note);
	return TOOL_GOOD;
}
