/* SPDX-License-Identifier: 0BSD */
/* The report as a histogram in the terminal. */
#ifndef CPUC_TOOLS_PLOT_H
#define CPUC_TOOLS_PLOT_H

#include "report.h"

/* Call setlocale(LC_CTYPE, "") before. */
int plot_print(const struct request *r);

#endif
