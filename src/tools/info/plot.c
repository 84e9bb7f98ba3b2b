/* SPDX-License-Identifier: 0BSD */
/* A histogram of the cycles from call to call, in the terminal. */
#include <config.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#ifndef _WIN32
#include <langinfo.h>
#endif
#include "calls.h"
#include "cpucycles.h"
#include "machine.h"
#include "plot.h"
#include "terminal.h"
#include "../common/tool.h"

#define OTHERS 10 /* rows above and below it, the prompt included */
#define LABEL 48  /* bytes: two numbers of 64 bits, and " to " */

struct plot {
	int utf8;          /* the locale's encoding */
	int width, rows;   /* columns in all; bins, at most */
	int label, number; /* columns left and right of a bar */
	struct histogram h;
	const struct calls *c;
};

static void plot_fit(struct plot *p)
{
	int rows = terminal_rows();

#ifndef _WIN32
	p->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
#endif
	p->width = terminal_width();
	rows = rows > 0 && rows < BINS_MAX + OTHERS ? rows - OTHERS : BINS_MAX;
	p->rows = rows < BINS_MIN ? BINS_MIN : rows;
}

/* In eighths of a column where there are characters for them. A count above 0
 * always shows. */
static void plot_bar(const struct plot *p, int count)
{
	static const char *const part[] = {"",  "▏", "▎", "▍",
					   "▌", "▋", "▊", "▉"};
	int width = p->width - p->label - p->number - 5, unit = p->utf8 ? 8 : 1;
	int length;

	width = width < 1 ? 1 : width;
	length = (int)((long long)count * width * unit / p->h.most);
	for (length += length == 0 && count > 0; length >= unit; length -= unit)
		fputs(p->utf8 ? "█" : "#", stdout);
	fputs(part[length], stdout);
}

/* "40", or "40 to 49"; "below 40" and "from 90" for values outside all bins.
 * Where there is little room "40", "<40" and "90+". */
static int plot_name(const struct plot *p, int bin, char label[LABEL])
{
	long long width = p->h.width, from = p->h.first + bin * width;

	const bool narrow = p->width < TERMINAL_NARROW;

	if (bin < 0)
		return snprintf(label, LABEL, narrow ? "<%lld" : "below %lld",
				p->h.first);
	if (bin == p->h.bins)
		return snprintf(label, LABEL, narrow ? "%lld+" : "from %lld",
				from);
	if (width == 1 || narrow)
		return snprintf(label, LABEL, "%lld", from);
	return snprintf(label, LABEL, "%lld to %lld", from, from + width - 1);
}

static void plot_row(const struct plot *p, int bin)
{
	int count = p->h.count[bin + 1];
	int middle = count > 0 && bin >= p->h.low && bin <= p->h.high;
	char label[LABEL];

	if (count == 0 && (bin < 0 || bin == p->h.bins))
		return;
	plot_name(p, bin, label);
	printf("%*s %s ", p->label, label, p->utf8 ? "│" : "|");
	plot_bar(p, count);
	printf("%s%d%s\n", count > 0 ? " " : "", count, middle ? "*" : "");
}

static void plot_histogram(struct plot *p)
{
	char label[LABEL];
	int i, length;

	calls_histogram(&p->h, p->c->sorted, p->c->n, p->rows);
	for (i = -1; i <= p->h.bins; i++) {
		length = plot_name(p, i, label);
		if (length > p->label)
			p->label = length;
	}
	p->number = snprintf(label, LABEL, "%d*", p->h.most);
	for (i = -1; i <= p->h.bins; i++)
		plot_row(p, i);
}

int plot_print(void)
{
	const struct calls *c = calls_measure(CALLS_MANY);
	struct plot p = {.c = c};
	struct machine m;

	plot_fit(&p);
	machine_find(&m);
	terminal_print(0, 0, "%s (%s), %s, %s", cpucycles_implementation(),
		       cpucycles_kind(), m.cpu, m.system);
	terminal_print(0, 0, "Cycles from call to call, and how often:");
	putchar('\n');
	plot_histogram(&p);
	putchar('\n');
	terminal_print(
		0, 0,
		"* the middle half: %lld to %lld, mean %.2f; all %d: %lld to "
		"%lld",
		c->quartile[0], c->quartile[2], c->iqm, c->n, c->sorted[0],
		c->sorted[c->n - 1]);
	return TOOL_GOOD;
}
