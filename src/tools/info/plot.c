/* SPDX-License-Identifier: 0BSD */
/* A histogram of the cycles from call to call, in the terminal. */
#include <config.h>
#include <stdio.h>
#include "calls.h"
#include "cpucycles.h"
#include "report.h"
#include "../common/system.h"
#include "../common/tool.h"

#define LABEL 24 /* bytes: a number of 64 bits and a sign */

/* "40" begins at that; "<40" and "90+" are values outside all bins. */
static int plot_name(const struct histogram *h, int bin, char label[LABEL])
{
	const long long from = h->first + bin * h->width;

	if (bin < 0)
		return snprintf(label, LABEL, "<%lld", h->first);
	return snprintf(label, LABEL, bin == h->bins ? "%lld+" : "%lld", from);
}

/* A count above 0 always shows. */
static void plot_row(const struct calls *c, const struct histogram *h, int bin,
		     int labels, int width)
{
	const long long from = h->first + bin * h->width;
	const int count = h->count[bin + 1];
	int length = (int)((long long)count * width / h->most);
	char label[LABEL];

	if (count == 0 && (bin < 0 || bin == h->bins))
		return;
	plot_name(h, bin, label);
	printf("%*s | ", labels, label);
	for (length += length == 0 && count > 0; length > 0; length--)
		putchar('#');
	printf("%s%d%s\n", count > 0 ? " " : "", count,
	       count > 0 && from + h->width > c->quartile[0] &&
			       from <= c->quartile[2]
		       ? "*"
		       : "");
}

static void plot_histogram(const struct calls *c)
{
	struct histogram h;
	char label[LABEL];
	int i, length, labels = 0, width;

	calls_histogram(&h, c->sorted, c->n);
	for (i = -1; i <= h.bins; i++) {
		length = plot_name(&h, i, label);
		labels = length > labels ? length : labels;
	}
	width = terminal_width() - labels - 5 -
		snprintf(label, LABEL, "%d", h.most);
	for (i = -1; i <= h.bins; i++)
		plot_row(c, &h, i, labels, width < 1 ? 1 : width);
}

int plot_print(void)
{
	const struct calls *c = calls_measure(CALLS_MANY);
	struct machine m;

	machine_find(&m);
	terminal_print(0, 0, "%s (%s), %s, %s", cpucycles_implementation(),
		       cpucycles_kind(), m.cpu, m.system);
	terminal_print(0, 0, "Cycles from call to call, and how often:");
	putchar('\n');
	plot_histogram(c);
	putchar('\n');
	terminal_print(
		0, 0,
		"* the middle half: %lld to %lld, mean %.2f; all %d: %lld to "
		"%lld",
		c->quartile[0], c->quartile[2], c->iqm, c->n, c->sorted[0],
		c->sorted[c->n - 1]);
	return TOOL_GOOD;
}
