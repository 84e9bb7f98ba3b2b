/* SPDX-License-Identifier: 0BSD */
/* A histogram of the cycles from call to call, in the terminal. */
#include <config.h>
#include <stdio.h>
#include "cpucycles.h"
#include "info.h"
#include "../common/stats.h"
#include "../common/system.h"
#include "../common/tool.h"

#define BINS_MAX 14 /* as a terminal has 24 lines */

struct histogram {
	int bins;
	long long first; /* bin i begins at first + i * width */
	long long width;
	int count[BINS_MAX + 2]; /* of bin i: [i + 1]; first and last: values
				    outside all bins, at most 1% each */
	int most;                /* the highest of all these counts */
};

/* The smallest of 1, 2, 5, 10, 20 ... of which n or fewer make up the range. */
static long long plot_step(long long range, int n)
{
	long long step = 1;
	int i;

	for (i = 0; step < range / n + (range % n > 0); i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

/* Divides and rounds towards minus infinity, so that a bin begins at 0. */
static long long plot_divide(long long value, long long by)
{
	return value / by - (value % by < 0);
}

/* Sorts n > 0 ascending values into bins. */
static void plot_sort(struct histogram *h, const long long *sorted, int n)
{
	/* The few that an interrupt hit would squeeze all others together. */
	long long low = stats_quantile(sorted, n, 1, 100), bin, last;
	long long high = stats_quantile(sorted, n, 99, 100);
	int i;

	*h = (struct histogram){.width = plot_step(high - low, BINS_MAX - 1)};
	bin = plot_divide(low, h->width);
	last = plot_divide(high, h->width);
	/* An empty bin on either side shows that nothing lies beyond. */
	bin -= bin != 0 && last - bin + 1 < BINS_MAX;
	last += last - bin + 1 < BINS_MAX;
	h->first = bin * h->width;
	h->bins = (int)(last - bin) + 1;
	for (i = 0; i < n; i++) {
		bin = plot_divide(sorted[i] - h->first, h->width);
		bin = bin < -1 ? -1 : bin > h->bins ? h->bins : bin;
		if (++h->count[bin + 1] > h->most)
			h->most = h->count[bin + 1];
	}
}

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

int plot_print(void)
{
	const struct calls *c = calls_measure(CALLS_MANY);
	int i, length, labels = 0, width;
	char label[LABEL];
	struct histogram h;
	struct machine m;

	machine_find(&m);
	terminal_print(0, 0, "%s (%s), %s, %s", cpucycles_implementation(),
		       cpucycles_kind(), m.cpu, m.system);
	terminal_print(0, 0, "Cycles from call to call, and how often:");
	putchar('\n');
	plot_sort(&h, c->sorted, CALLS_MANY);
	for (i = -1; i <= h.bins; i++) {
		length = plot_name(&h, i, label);
		labels = length > labels ? length : labels;
	}
	width = terminal_width() - labels - 5 -
		snprintf(label, LABEL, "%d", h.most);
	for (i = -1; i <= h.bins; i++)
		plot_row(c, &h, i, labels, width < 1 ? 1 : width);
	putchar('\n');
	terminal_print(
		0, 0,
		"* the middle half: %lld to %lld, mean %.2f; all %d: %lld to "
		"%lld",
		c->quartile[0], c->quartile[2], c->iqm, CALLS_MANY,
		c->sorted[0], c->sorted[CALLS_MANY - 1]);
	return TOOL_GOOD;
}
