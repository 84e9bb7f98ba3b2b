/* SPDX-License-Identifier: 0BSD */
/* The report as a picture. */
#ifndef CPUC_TOOLS_SVG_H
#define CPUC_TOOLS_SVG_H

#include <stdio.h>
#include "report.h"

int svg_save(const struct request *r);

/* Writes a text element, escaped. */
void svg_text(FILE *file, const char *class, double x, double y,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
