/* SPDX-License-Identifier: 0BSD */
/* The report as pictures. */
#ifndef CPUC_TOOLS_PICTURES_H
#define CPUC_TOOLS_PICTURES_H

#include <stdio.h>

/* A histogram in the terminal. Call setlocale(LC_CTYPE, "") before. */
int plot_print(void);

int svg_save(void);

/* Writes a text element, escaped. */
void svg_text(FILE *file, const char *class, double x, double y,
	      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

#endif
