/* SPDX-License-Identifier: 0BSD */
/* The report as a picture: a histogram of the cycles from call to call, and
 * bounds of the count's rate. */
#include <config.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "calls.h"
#include "svg.h"
#include "../common/tool.h"

#define LEFT 84.0 /* edges of both diagrams */
#define RIGHT 776.0
#define TALL 180.0 /* height of each */
#define BINS 48    /* wide enough to be seen */
#define GRID 5     /* lines across a diagram, at most */

/* A diagram's place in the picture, and the values at its edges. */
struct panel {
	FILE *file;
	double top, x0, x1, y0, y1;
};

/* The picture may be printed in grey: shapes and dashes tell things apart, not
 * only colours. */
static const char svg_style[] =
	"<style>\n"
	"text { font: 13px system-ui, \"DejaVu Sans\", sans-serif;"
	" fill: #222; }\n"
	".title { font-size: 20px; font-weight: bold; }\n"
	".head { font-size: 14px; font-weight: bold; }\n"
	".end { text-anchor: end; } .mid { text-anchor: middle; }\n"
	".paper { fill: #fff; } .half { fill: #f0d9a8; }\n"
	".axis { stroke: #222; } .grid { stroke: #ddd; }\n"
	".bar { fill: #2f6690; } .bound { stroke: #a3320b; stroke-width: 2; }\n"
	".mean { stroke: #111; stroke-width: 1.5; stroke-dasharray: 2 3; }\n"
	".rate { stroke: #111; stroke-width: 1.5; stroke-dasharray: 9 5; }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	"text { fill: #ddd; } .mean, .rate { stroke: #eee; }\n"
	".paper { fill: #16191d; } .half { fill: #54431c; }\n"
	".axis { stroke: #ddd; } .grid { stroke: #383d44; }\n"
	".bar { fill: #74b0dd; } .bound { stroke: #ff9466; }\n"
	"}\n"
	"</style>\n"
	"<rect class=\"paper\" width=\"800\" height=\"660\"/>\n";

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
		if (*t == '&')
			fputs("&amp;", file);
		else if (*t == '<')
			fputs("&lt;", file);
		else if (*t == '>')
			fputs("&gt;", file);
		else
			putc(*t, file);
	fputs("</text>\n", file);
}

static void svg_box(FILE *file, const char *class, double x, double y,
		    double width, double height)
{
	fprintf(file,
		"<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
		"height=\"%.2f\"/>\n",
		class, x, y, width, height);
}

static void svg_line(FILE *file, const char *class, double x1, double y1,
		     double x2, double y2)
{
	fprintf(file,
		"<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" "
		"y2=\"%.2f\"/>\n",
		class, x1, y1, x2, y2);
}

static double svg_x(const struct panel *p, double value)
{
	return LEFT + (value - p->x0) / (p->x1 - p->x0) * (RIGHT - LEFT);
}

static double svg_y(const struct panel *p, double value)
{
	return p->top + (p->y1 - value) / (p->y1 - p->y0) * TALL;
}

/* The title, both units, and the y axis from y0, a multiple of step, to the
 * first multiple that is not below y1. A label is the value over `unit`. */
static void svg_axes(struct panel *p, const char *title, const char *x_unit,
		     const char *y_unit, long long step, double unit)
{
	int i, n = (int)((p->y1 - p->y0) / (double)step + 0.999);
	double value, y;

	p->y1 = p->y0 + (double)(n * step);
	svg_text(p->file, "head", LEFT, p->top - 24, "%s", title);
	svg_text(p->file, "end", LEFT - 8, p->top - 11, "%s", y_unit);
	svg_text(p->file, "end", RIGHT, p->top + TALL + 34, "%s", x_unit);
	for (i = 0; i <= n; i++) {
		value = p->y0 + (double)(i * step);
		y = svg_y(p, value);
		svg_line(p->file, i ? "grid" : "axis", LEFT, y, RIGHT, y);
		svg_text(p->file, "end", LEFT - 8, y + 4, "%.6g", value / unit);
	}
}

static void svg_tick(const struct panel *p, double value, long long label)
{
	double x = svg_x(p, value), bottom = p->top + TALL;

	svg_line(p->file, "axis", x, bottom, x, bottom + 5);
	svg_text(p->file, "mid", x, bottom + 18, "%lld", label);
}

/* Draws bars as wide as their bins, but for a gap, and the x axis's labels. */
static void svg_bars(const struct panel *p, const struct histogram *h)
{
	long long end = h->first + h->bins * h->width, value;
	long long step = calls_step(h->bins * h->width, 10);
	double unit = (RIGHT - LEFT) / h->bins, height;
	int i;

	for (i = 0; i < h->bins; i++) {
		/* One call of thousands must show too. */
		height = TALL * h->count[i] / p->y1;
		if (height < 1.5)
			height = 1.5;
		if (h->count[i] > 0)
			svg_box(p->file, "bar", LEFT + unit * (i + 1 / 12.0),
				p->top + TALL - height, unit * 5 / 6, height);
	}
	for (value = h->first / step * step; value < end; value += step)
		if (value >= h->first)
			svg_tick(p, (double)value, value);
}

static void svg_calls(FILE *file)
{
	const struct calls *c = calls_measure(CALLS_MANY);
	struct panel p = {.file = file, .top = 140};
	struct histogram h;
	int left;
	double x, high;

	calls_histogram(&h, c->sorted, c->n, BINS);
	/* A bin begins half a cycle below its first value. */
	p.x0 = (double)h.first - 0.5;
	p.x1 = p.x0 + (double)(h.bins * h.width);
	p.y1 = h.most;
	x = svg_x(&p, (double)c->quartile[0] - 0.5);
	high = svg_x(&p, (double)c->quartile[2] + 0.5);
	svg_box(file, "half", x, p.top, high - x, TALL);
	svg_axes(&p, "Cycles from call to call (shaded: the middle half)",
		 "cycles", "calls", calls_step(h.most, GRID), 1);
	svg_bars(&p, &h);
	x = svg_x(&p, c->iqm);
	left = x > (LEFT + RIGHT) / 2;
	svg_line(file, "mean", x, p.top - 14, x, p.top + TALL);
	svg_text(file, left ? "end" : "note", left ? x - 6 : x + 6, p.top - 6,
		 "interquartile mean %.2f", c->iqm);
	svg_text(file, "note", LEFT, p.top + TALL + 34,
		 "%d calls, %lld to %lld cycles; not shown: %d below, %d above",
		 c->n, c->sorted[0], c->sorted[c->n - 1], h.below, h.above);
}

static void svg_rates(FILE *file)
{
	struct observed o[OBSERVED];
	int i, n = calls_observe(o);
	struct panel p = {file, 420, -0.5, n - 0.5, 0, 0};
	double rate = (double)cpucycles_persecond();
	double low = rate, high = rate, y = rate / 20, x;
	long long step;

	/* The y axis has room for all bounds and persecond. */
	for (i = 0; i < n; i++) {
		if (o[i].low < low)
			low = o[i].low;
		if (o[i].high > high)
			high = o[i].high;
	}
	if (y < high - low)
		y = high - low;
	step = calls_step((long long)y, GRID);
	p.y0 = (double)((long long)(low / (double)step - 0.25) * step);
	p.y1 = high + (double)step / 4;
	svg_axes(&p, "Rate of the count: lower and upper bound",
		 "iterations of an empty loop", "GHz", step, 1e9);
	y = svg_y(&p, rate);
	svg_line(file, "rate", LEFT, y, RIGHT, y);
	y = p.top + TALL + 30;
	svg_line(file, "rate", LEFT, y, LEFT + 42, y);
	svg_text(file, "note", LEFT + 50, y + 4, "persecond: %.4g GHz (%s)",
		 rate / 1e9, cpucycles_persecondsource());
	for (i = 0; i < n; i++) {
		svg_tick(&p, i, o[i].loops);
		x = svg_x(&p, i);
		low = svg_y(&p, o[i].low);
		high = svg_y(&p, o[i].high);
		svg_line(file, "bound", x - 9, low, x + 9, low);
		svg_line(file, "bound", x - 9, high, x + 9, high);
		svg_line(file, "bound", x, low, x, high);
	}
}

static void svg_draw(FILE *file)
{
	struct machine m;

	report_machine(&m);
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" "
		"height=\"660\" viewBox=\"0 0 800 660\" role=\"img\">\n"
		"<title>CPU cycles counted by %s</title>\n%s",
		cpucycles_implementation(), svg_style);
	svg_text(file, "title", 24, 38, "CPU cycles counted by %s (%s)",
		 cpucycles_implementation(), cpucycles_kind());
	svg_text(file, "note", 24, 62, "%s, %s", m.cpu, m.system);
	svg_text(file, "note", 24, 80, "libcpucycles %s, %s",
		 cpucycles_version(), m.time);
	svg_calls(file);
	svg_rates(file);
	fputs("</svg>\n", file);
}

int svg_save(const struct request *r)
{
	FILE *file = strcmp(r->file, "-") ? fopen(r->file, "w") : stdout;
	struct stat st;

	if (file != NULL) {
		svg_draw(file);
		if (file == stdout || (!ferror(file) && !fclose(file)))
			return TOOL_GOOD;
	}
	fprintf(stderr, "cpucycles-info: cannot write '%s': %s\n", r->file,
		strerror(errno));
	/* Half a picture is no use. */
	if (file != NULL && !stat(r->file, &st) && S_ISREG(st.st_mode))
		remove(r->file);
	return TOOL_FINDING;
}
