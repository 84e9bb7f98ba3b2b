/* SPDX-License-Identifier: 0BSD */
/* The report as a histogram on the terminal. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "calls.h"
#include "cpucycles.h"
#include "histogram.h"
#include "machine.h"
#include "report.h"
#include "../common/stats.h"
#include "terminal.h"
#include "../common/tool.h"

#define ROWS 20  /* of the histogram, where the terminal has as many */
#define OTHERS 9 /* rows above and below it */
#define NARROW 3 /* more of them where the terminal has no 80 columns */
#define LABEL 48 /* two numbers of 64 bits, and what is between */

static const char COLOUR[] = "\033[36m", STRONG[] = "\033[1;36m";
static const char NORMAL[] = "\033[0m";

struct plot {
	struct terminal t;
	struct histogram h;
	const struct calls *c;
	int label, number; /* widths of what is left and right of a bar */
};

static void put_times(const char *text, int times)
{
	while (times-- > 0)
		fputs(text, stdout);
}

/* A bar in eighths of a column where there are characters for that; what is
 * not 0 can be seen. */
static void put_bar(const struct plot *p, int count)
{
	static const char *const parts[] = {"",  "▏", "▎", "▍",
					    "▌", "▋", "▊", "▉"};
	int width = p->t.width - p->label - p->number - 5;
	int unit = p->t.utf8 ? 8 : 1;
	int length = (int)((long long)count * width * unit / p->h.most);

	if (length == 0 && count > 0)
		length = 1;
	put_times(p->t.utf8 ? "█" : "#", length / unit);
	if (p->t.utf8)
		fputs(parts[length % 8], stdout);
}

static void put_row(const struct plot *p, const char *label, int count,
		    int middle)
{
	printf("%*s %s ", p->label, label, p->t.utf8 ? "│" : "|");
	if (p->t.colour && count > 0)
		fputs(middle ? STRONG : COLOUR, stdout);
	put_bar(p, count);
	if (p->t.colour && count > 0)
		fputs(NORMAL, stdout);
	printf("%s%d%s\n", count > 0 ? " " : "", count, middle ? "*" : "");
}

/* "40", or "40 to 49"; from the one after the last bin on, open ends. */
static void name_bin(const struct plot *p, int bin, char label[LABEL])
{
	const struct histogram *h = &p->h;
	long long from = h->first + bin * h->width;

	if (bin < 0)
		snprintf(label, LABEL, "below %lld", h->first);
	else if (bin >= h->bins)
		snprintf(label, LABEL, "from %lld", from);
	else if (h->width == 1)
		snprintf(label, LABEL, "%lld", from);
	else
		snprintf(label, LABEL, "%lld to %lld", from,
			 from + h->width - 1);
}

static void put_bin(const struct plot *p, int bin, int count)
{
	char label[LABEL];
	int in = bin >= 0 && bin < p->h.bins;

	name_bin(p, bin, label);
	put_row(p, label, count,
		in && histogram_middle(&p->h, p->c->sorted, p->c->n, bin));
}

static void put_histogram(struct plot *p)
{
	char label[LABEL];
	int i, length;

	for (i = -1; i <= p->h.bins; i++) {
		name_bin(p, i, label);
		length = (int)strlen(label);
		if (length > p->label)
			p->label = length;
	}
	p->number = snprintf(label, LABEL, "%d*", p->h.most);
	if (p->h.below > 0)
		put_bin(p, -1, p->h.below);
	for (i = 0; i < p->h.bins; i++)
		put_bin(p, i, p->h.count[i]);
	if (p->h.above > 0)
		put_bin(p, p->h.bins, p->h.above);
}

/* A line, broken between words where it is too long. */
static void put_text(const struct terminal *t, const char *text)
{
	int column = 0, length;

	for (; *text != '\0'; text += length + (text[length] == ' ')) {
		length = (int)strcspn(text, " ");
		if (column > 0 && column + 1 + length > t->width) {
			putchar('\n');
			column = 0;
		}
		column += printf("%s%.*s", column > 0 ? " " : "", length, text);
	}
	putchar('\n');
}

/* The first is cut rather than broken: processors have long names. */
static void put_heading(const struct terminal *t)
{
	struct machine m;
	char line[512];

	machine_describe(&m);
	snprintf(line, sizeof line, "%s (%s), %s, %s",
		 cpucycles_implementation(), cpucycles_kind(), m.cpu, m.system);
	printf("%.*s\n", t->width, line);
	put_text(t, "Cycles from one call of cpucycles() to the next, and how "
		    "many calls:");
	putchar('\n');
}

static void put_summary(const struct terminal *t, const struct calls *c)
{
	struct observed o[OBSERVED];
	char line[512];

	observe(o);
	putchar('\n');
	snprintf(line, sizeof line,
		 "* the middle half: mean %lld, from %lld to %lld; all %d: "
		 "%lld to %lld",
		 c->iqm, stats_quantile(c->sorted, c->n, 1, 4),
		 stats_quantile(c->sorted, c->n, 3, 4), c->n, c->sorted[0],
		 c->sorted[c->n - 1]);
	put_text(t, line);
	snprintf(line, sizeof line,
		 "%.4g GHz observed; nominally %.4g GHz (%s)",
		 (o[OBSERVED - 1].low + o[OBSERVED - 1].high) / 2e9,
		 (double)cpucycles_persecond() / 1e9,
		 cpucycles_persecondsource());
	put_text(t, line);
}

int report_plot(const struct request *r)
{
	static struct plot p;
	int rows = ROWS, others;

	(void)r;
	memset(&p, 0, sizeof p);
	p.t = terminal();
	others = OTHERS + (p.t.width < 80 ? NARROW : 0);
	if (p.t.height > 0 && p.t.height - others < rows)
		rows = p.t.height - others;
	if (rows < BINS_MIN)
		rows = BINS_MIN;
	p.c = calls_measure(CALLS_MANY);
	histogram_make(&p.h, p.c->sorted, p.c->n, rows);
	put_heading(&p.t);
	put_histogram(&p);
	put_summary(&p.t, p.c);
	return strcmp(cpucycles_kind(), "zero") ? TOOL_GOOD : TOOL_FINDING;
}
