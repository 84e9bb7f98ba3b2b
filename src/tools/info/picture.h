/* SPDX-License-Identifier: 0BSD */
/* Parts of an SVG picture: texts, shapes, axes. */
#ifndef CPUC_TOOLS_PICTURE_H
#define CPUC_TOOLS_PICTURE_H

#include <stdio.h>

/* A diagram's place in the picture, and the values at its edges. */
struct panel {
	FILE *file;
	double left, top, width, height; /* in units of the picture */
	double x0, x1, y0, y1;           /* values: left, right, bottom, top */
};

double panel_x(const struct panel *p, double value);
double panel_y(const struct panel *p, double value);

/* Text with what XML needs escaped. `how`: more attributes, or "". */
void picture_text(FILE *file, double x, double y, const char *how,
		  const char *text);

/* Elements that styles name by `class`. */
void picture_box(FILE *file, const char *class, double x, double y,
		 double width, double height);
void picture_line(FILE *file, const char *class, double x1, double y1,
		  double x2, double y2);

/* The step of a scale of about `n` steps: 1, 2 or 5 times a power of ten. */
double scale_step(double range, int n);

/* Title and axes, the units beside them. The y axis gets a tick at each
 * multiple of step, with a line across. */
void panel_frame(const struct panel *p, const char *title, const char *x_unit,
		 const char *y_unit, double step);

/* A tick of the x axis. */
void panel_tick(const struct panel *p, double value, const char *label);

#endif
