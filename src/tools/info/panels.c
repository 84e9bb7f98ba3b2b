/* SPDX-License-Identifier: 0BSD */
/* The diagrams of cpucycles-info --svg. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "histogram.h"
#include "panels.h"
#include "../common/stats.h"

#define BINS 48 /* wide enough to be seen */
#define GRID 5  /* lines across a panel, about */
#define GIGA 1e9

/* The bars are as wide as their bins, but for a gap. */
static void draw_bars(const struct panel *p, const struct histogram *h)
{
	double unit = panel_x(p, 1) - panel_x(p, 0), top;
	int i;

	for (i = 0; i < h->bins; i++) {
		if (h->count[i] == 0)
			continue;
		top = panel_y(p, h->count[i]);
		/* One call of thousands is to be seen too. */
		if (top > p->top + p->height - 1.5)
			top = p->top + p->height - 1.5;
		picture_box(p->file, "bar", panel_x(p, i) + unit / 12, top,
			    unit * 5 / 6, p->top + p->height - top);
	}
}

/* In units of bins; a value is in the middle of those that it stands for. */
static double bin_of(const struct histogram *h, double value)
{
	return (value - (double)h->first + 0.5) / (double)h->width;
}

static void draw_middle(const struct panel *p, const struct histogram *h,
			const struct calls *c)
{
	long long low = stats_quantile(c->sorted, c->n, 1, 4);
	long long high = stats_quantile(c->sorted, c->n, 3, 4);
	double from = panel_x(p, bin_of(h, (double)low - 0.5));
	double to = panel_x(p, bin_of(h, (double)high + 0.5));

	picture_box(p->file, "half", from, p->top, to - from, p->height);
}

static void draw_mean(const struct panel *p, const struct histogram *h,
		      const struct calls *c)
{
	double x = panel_x(p, bin_of(h, (double)c->iqm));
	int left = x > p->left + p->width * 0.6;
	char text[64];

	picture_line(p->file, "mean", x, p->top - 14, x, p->top + p->height);
	snprintf(text, sizeof text, "interquartile mean %lld", c->iqm);
	picture_text(p->file, left ? x - 6 : x + 6, p->top - 6,
		     left ? "class=\"end\"" : "", text);
}

/* At the edges of bins, or with bins of one value below their middle. */
static void draw_values(const struct panel *p, const struct histogram *h)
{
	long long step, value;
	char label[32];
	int i;

	step = (long long)scale_step((double)(h->bins * h->width), 10);
	if (step < h->width)
		step = h->width;
	for (i = 0; i <= h->bins; i++) {
		value = h->first + i * h->width;
		if (value % step != 0 || (h->width == 1 && i == h->bins))
			continue;
		snprintf(label, sizeof label, "%lld", value);
		panel_tick(p, h->width == 1 ? i + 0.5 : i, label);
	}
}

void panel_calls(struct panel *p, const struct calls *c)
{
	struct histogram h;
	char text[160];
	double step;
	int n;

	histogram_make(&h, c->sorted, c->n, BINS);
	step = scale_step(h.most, GRID);
	if (step < 1)
		step = 1;
	p->x1 = h.bins;
	while (p->y1 < h.most)
		p->y1 += step;
	draw_middle(p, &h, c);
	snprintf(text, sizeof text,
		 "From one call to the next, %d times (shaded: the middle "
		 "half)",
		 c->n);
	panel_frame(p, text, "cycles", "calls", step);
	draw_bars(p, &h);
	draw_mean(p, &h, c);
	draw_values(p, &h);
	n = snprintf(text, sizeof text, "%lld to %lld cycles in all",
		     c->sorted[0], c->sorted[c->n - 1]);
	if (h.below + h.above > 0)
		snprintf(text + n, sizeof text - (size_t)n,
			 "; not shown: %d below, %d above", h.below, h.above);
	picture_text(p->file, p->left, p->top + p->height + 34, "", text);
}

/* Sets scales that hold all bounds and the nominal rate; the y axis's step. */
static double scale_rates(struct panel *p, const struct observed o[OBSERVED])
{
	double nominal = (double)cpucycles_persecond() / GIGA, step;
	double low = nominal, high = nominal;
	int i;

	for (i = 0; i < OBSERVED; i++) {
		if (o[i].ns == 0)
			continue;
		if (o[i].low / GIGA < low)
			low = o[i].low / GIGA;
		if (o[i].high / GIGA > high)
			high = o[i].high / GIGA;
	}
	step = scale_step(high - low > nominal / 20 ? high - low : nominal / 20,
			  GRID);
	p->y0 = (double)(long)(low / step) * step;
	if (p->y0 + step / 4 > low && p->y0 >= step)
		p->y0 -= step;
	for (p->y1 = p->y0; p->y1 < high + step / 4;)
		p->y1 += step;
	p->x0 = -0.5;
	p->x1 = OBSERVED - 0.5;
	return step;
}

static void draw_nominal(const struct panel *p)
{
	double nominal = (double)cpucycles_persecond() / GIGA;
	double y = panel_y(p, nominal);
	char text[160];

	picture_line(p->file, "nominal", p->left, y, p->left + p->width, y);
	y = p->top + p->height + 30;
	picture_line(p->file, "nominal", p->left, y, p->left + 42, y);
	snprintf(text, sizeof text, "nominal: %.4g GHz (%s)", nominal,
		 cpucycles_persecondsource());
	picture_text(p->file, p->left + 50, y + 4, "", text);
}

/* The lower and the upper bound, capped, as bounds are mostly drawn. */
static void draw_bounds(const struct panel *p, double i,
			const struct observed *o)
{
	double x = panel_x(p, i), low = panel_y(p, o->low / GIGA);
	double high = panel_y(p, o->high / GIGA);

	picture_line(p->file, "bound", x - 9, low, x + 9, low);
	picture_line(p->file, "bound", x - 9, high, x + 9, high);
	picture_line(p->file, "bound", x, low, x, high);
}

void panel_rates(struct panel *p, const struct observed o[OBSERVED])
{
	double step = scale_rates(p, o);
	char text[32];
	int i;

	panel_frame(p, "Rate of the count: lower and upper bound",
		    "iterations of an empty loop", "GHz", step);
	draw_nominal(p);
	for (i = 0; i < OBSERVED; i++) {
		snprintf(text, sizeof text, "%ld", o[i].loops);
		panel_tick(p, i, text);
		if (o[i].ns != 0)
			draw_bounds(p, i, &o[i]);
	}
}
