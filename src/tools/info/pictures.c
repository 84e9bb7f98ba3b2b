/* SPDX-License-Identifier: 0BSD */
/* The report as pictures: a histogram of the cycles from call to call, in the
 * terminal and as SVG. */
#include <config.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#ifndef _WIN32
#include <langinfo.h>
#include <sys/ioctl.h>
#endif
#include "calls.h"
#include "cpucycles.h"
#include "machine.h"
#include "pictures.h"
#include "report.h"
#include "../common/tool.h"

#define ROWS 20   /* of the histogram, where the terminal has as many */
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
	const char *columns = getenv("COLUMNS");
	long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
	int rows = 0;
#ifndef _WIN32
	struct winsize size = {0};

	ioctl(1, TIOCGWINSZ, &size);
	/* Shells rarely export COLUMNS: if it is there, the user wants it. */
	width = width > 0 ? width : size.ws_col;
	rows = size.ws_row;
	p->utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
#endif
	width = width > 0 ? width : 80;
	p->width = width < 40 ? 40 : width > 1000 ? 1000 : (int)width;
	rows = rows > 0 && rows < ROWS + OTHERS ? rows - OTHERS : ROWS;
	p->rows = rows < BINS_MIN ? BINS_MIN : rows;
}

/* In eighths of a column where there are characters for them. A count above 0
 * always shows. */
static void plot_bar(const struct plot *p, int count)
{
	static const char *const part[] = {"",  "▏", "▎", "▍",
					   "▌", "▋", "▊", "▉"};
	int width = p->width - p->label - p->number - 5, unit = p->utf8 ? 8 : 1;
	int length = (int)((long long)count * width * unit / p->h.most);

	for (length += length == 0 && count > 0; length >= unit; length -= unit)
		fputs(p->utf8 ? "█" : "#", stdout);
	fputs(part[length], stdout);
}

/* "40", or "40 to 49"; "below 40" and "from 90" for values outside all bins. */
static int plot_name(const struct plot *p, int bin, char label[LABEL])
{
	long long width = p->h.width, from = p->h.first + bin * width;

	if (bin < 0)
		return snprintf(label, LABEL, "below %lld", p->h.first);
	if (bin == p->h.bins)
		return snprintf(label, LABEL, "from %lld", from);
	if (width == 1)
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

/* A line, cut where the terminal ends: processors have long names. */
__attribute__((format(printf, 2, 3))) static void
plot_line(const struct plot *p, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	printf("%.*s\n", p->width, line);
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
	struct observed o[OBSERVED];
	int n = calls_observe(o);
	struct machine m;

	plot_fit(&p);
	machine_find(&m);
	plot_line(&p, "%s (%s), %s, %s", cpucycles_implementation(),
		  cpucycles_kind(), m.cpu, m.system);
	printf("Cycles from call to call, and how often:\n\n");
	plot_histogram(&p);
	putchar('\n');
	plot_line(&p,
		  "* the middle half: %lld to %lld, mean %.2f; all %d: %lld to "
		  "%lld",
		  c->quartile[0], c->quartile[2], c->iqm, c->n, c->sorted[0],
		  c->sorted[c->n - 1]);
	if (n > 0)
		plot_line(&p, "observed: %.4g to %.4g GHz", o[n - 1].low / 1e9,
			  o[n - 1].high / 1e9);
	plot_line(&p, "persecond: %.4g GHz (%s)",
		  (double)cpucycles_persecond() / 1e9,
		  cpucycles_persecondsource());
	return TOOL_GOOD;
}

#define LEFT 84.0 /* edges of the diagram */
#define RIGHT 776.0
#define TOP 140.0
#define BOTTOM 320.0
#define BINS 48 /* wide enough to be seen */
#define GRID 5  /* lines across it, at most */

/* The picture may be printed in grey: shapes and dashes tell things apart, not
 * only colours. */
static const char svg_style[] =
	"<style>\n"
	"text { font: 13px system-ui, \"DejaVu Sans\", sans-serif;"
	" fill: #222; }\n"
	".title { font-size: 20px; font-weight: bold; }\n"
	".head { font-size: 14px; font-weight: bold; }\n"
	".end { text-anchor: end; } .mid { text-anchor: middle; }\n"
	".paper { fill: #fff; } .half { stroke: #f0d9a8; }\n"
	".axis { stroke: #222; } .grid { stroke: #ddd; }\n"
	".bar { stroke: #2f6690; }\n"
	".mean { stroke: #111; stroke-dasharray: 2 3; }\n"
	"</style>\n"
	"<rect class=\"paper\" width=\"800\" height=\"376\"/>\n";

void svg_text(FILE *file, const char *class, double x, double y,
	      const char *fmt, ...)
{
	char text[512], *t;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	fprintf(file, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, x, y);
	for (t = text; *t != '\0'; t++)
		fprintf(file, strchr("<>&", *t) ? "&#%d;" : "%c", *t);
	fputs("</text>\n", file);
}

/* A box is a thick line. */
static void svg_line(FILE *file, const char *class, double x1, double y1,
		     double x2, double y2, double width)
{
	fprintf(file,
		"<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" "
		"y2=\"%.2f\" stroke-width=\"%.2f\"/>\n",
		class, x1, y1, x2, y2, width);
}

/* The place of a count of cycles. A bin begins half a cycle below its first. */
static double svg_x(const struct histogram *h, double value)
{
	return LEFT + (value + 0.5 - (double)h->first) /
			      (double)(h->bins * h->width) * (RIGHT - LEFT);
}

/* The axes, their units and labels, and a bar for each bin, as wide but for a
 * gap. */
static void svg_histogram(FILE *file, const struct histogram *h)
{
	long long step = calls_step(h->most, GRID), value;
	long long top = (h->most + step - 1) / step * step;
	double scale = (BOTTOM - TOP) / (double)top, height, width, x, y;
	int i;

	for (value = 0; value <= top; value += step) {
		y = BOTTOM - (double)value * scale;
		svg_line(file, value ? "grid" : "axis", LEFT, y, RIGHT, y, 1);
		svg_text(file, "end", LEFT - 8, y + 4, "%lld", value);
	}
	for (i = 0; i < h->bins; i++) {
		/* One call of thousands must show too. */
		height = h->count[i + 1] * scale;
		height = height < 1.5 ? 1.5 : height;
		width = (RIGHT - LEFT) / h->bins;
		x = LEFT + width * (i + 0.5);
		if (h->count[i + 1] > 0)
			svg_line(file, "bar", x, BOTTOM, x, BOTTOM - height,
				 width * 5 / 6);
	}
	step = calls_step(h->bins * h->width, 10);
	value = h->first / step * step;
	for (value += value < h->first ? step : 0;
	     value < h->first + h->bins * h->width; value += step) {
		x = svg_x(h, (double)value);
		svg_line(file, "axis", x, BOTTOM, x, BOTTOM + 5, 1);
		svg_text(file, "mid", x, BOTTOM + 18, "%lld", value);
	}
	svg_text(file, "end", LEFT - 8, TOP - 11, "calls");
	svg_text(file, "end", RIGHT, BOTTOM + 34, "cycles");
}

static void svg_calls(FILE *file)
{
	const struct calls *c = calls_measure(CALLS_MANY);
	struct histogram h;
	double x, width;
	int left;

	calls_histogram(&h, c->sorted, c->n, BINS);
	x = svg_x(&h, (double)c->quartile[0] - 0.5);
	width = svg_x(&h, (double)c->quartile[2] + 0.5) - x;
	svg_line(file, "half", x + width / 2, TOP, x + width / 2, BOTTOM,
		 width);
	svg_text(file, "head", LEFT, TOP - 24,
		 "Cycles from call to call (shaded: the middle half)");
	svg_histogram(file, &h);
	x = svg_x(&h, c->iqm);
	left = x > (LEFT + RIGHT) / 2;
	svg_line(file, "mean", x, TOP - 14, x, BOTTOM, 1.5);
	svg_text(file, left ? "end" : "note", left ? x - 6 : x + 6, TOP - 6,
		 "interquartile mean %.2f", c->iqm);
	svg_text(file, "note", LEFT, BOTTOM + 34,
		 "%d calls, %lld to %lld cycles; not shown: %d below, %d above",
		 c->n, c->sorted[0], c->sorted[c->n - 1], h.count[0],
		 h.count[h.bins + 1]);
}

static void svg_draw(FILE *file)
{
	struct machine m;

	machine_find(&m);
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" "
		"height=\"376\" viewBox=\"0 0 800 376\" role=\"img\">\n"
		"<title>CPU cycles counted by %s</title>\n%s",
		cpucycles_implementation(), svg_style);
	svg_text(file, "title", 24, 38, "CPU cycles counted by %s (%s)",
		 cpucycles_implementation(), cpucycles_kind());
	svg_text(file, "note", 24, 62, "%s, %s", m.cpu, m.system);
	svg_text(file, "note", 24, 80,
		 "libcpucycles %s, %s, persecond: %.4g GHz (%s)",
		 cpucycles_version(), m.time,
		 (double)cpucycles_persecond() / 1e9,
		 cpucycles_persecondsource());
	svg_calls(file);
	fputs("</svg>\n", file);
}

int svg_save(void)
{
	FILE *file;
	struct stat made;
	bool written;

	if (!strcmp(request.file, "-")) {
		svg_draw(stdout);
		return TOOL_GOOD;
	}
	file = fopen(request.file, "w");
	if (file != NULL) {
		svg_draw(file);
		written = !ferror(file);
		if (!fclose(file) && written)
			return TOOL_GOOD;
	}
	tool_failed("cannot write '%s': %s", request.file, strerror(errno));
	/* Half a picture is none; but a device is not ours. */
	if (file != NULL && stat(request.file, &made) == 0 &&
	    S_ISREG(made.st_mode))
		remove(request.file);
	return TOOL_FINDING;
}
