/* SPDX-License-Identifier: 0BSD */
/* Parts of an SVG picture: texts, shapes, axes. */
#include <config.h>
#include <string.h>
#include "picture.h"

double panel_x(const struct panel *p, double value)
{
	return p->left + (value - p->x0) / (p->x1 - p->x0) * p->width;
}

double panel_y(const struct panel *p, double value)
{
	return p->top + (p->y1 - value) / (p->y1 - p->y0) * p->height;
}

static void put_escaped(FILE *file, const char *text)
{
	for (; *text != '\0'; text++)
		switch (*text) {
		case '&':
			fputs("&amp;", file);
			break;
		case '<':
			fputs("&lt;", file);
			break;
		case '>':
			fputs("&gt;", file);
			break;
		default:
			putc(*text, file);
		}
}

void picture_text(FILE *file, double x, double y, const char *how,
		  const char *text)
{
	fprintf(file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
	put_escaped(file, text);
	fputs("</text>\n", file);
}

void picture_box(FILE *file, const char *class, double x, double y,
		 double width, double height)
{
	fprintf(file,
		"<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" "
		"height=\"%.2f\"/>\n",
		class, x, y, width, height);
}

void picture_line(FILE *file, const char *class, double x1, double y1,
		  double x2, double y2)
{
	fprintf(file,
		"<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" "
		"y2=\"%.2f\"/>\n",
		class, x1, y1, x2, y2);
}

double scale_step(double range, int n)
{
	static const double steps[] = {1, 2, 5, 10};
	double power = 1;
	int i = 0;

	while (power * n * 10 <= range)
		power *= 10;
	while (power * n > range)
		power /= 10;
	while (i < 3 && power * steps[i] * n < range)
		i++;
	return power * steps[i];
}

void panel_frame(const struct panel *p, const char *title, const char *x_unit,
		 const char *y_unit, double step)
{
	double bottom = p->top + p->height, y;
	char label[32];
	long i;

	picture_text(p->file, p->left, p->top - 24, "class=\"head\"", title);
	picture_text(p->file, p->left - 8, p->top - 11, "class=\"end\"",
		     y_unit);
	picture_text(p->file, p->left + p->width, bottom + 34, "class=\"end\"",
		     x_unit);
	/* Counted, so that rounding adds up to nothing. */
	for (i = 0; p->y0 + (double)i * step <= p->y1 + step / 1000; i++) {
		y = panel_y(p, p->y0 + (double)i * step);
		picture_line(p->file, i ? "grid" : "axis", p->left, y,
			     p->left + p->width, y);
		snprintf(label, sizeof label, "%.6g", p->y0 + (double)i * step);
		picture_text(p->file, p->left - 8, y + 4, "class=\"end\"",
			     label);
	}
}

void panel_tick(const struct panel *p, double value, const char *label)
{
	double x = panel_x(p, value), bottom = p->top + p->height;

	picture_line(p->file, "axis", x, bottom, x, bottom + 5);
	picture_text(p->file, x, bottom + 18, "class=\"mid\"", label);
}
