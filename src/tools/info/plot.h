/* SPDX-License-Identifier: 0BSD */
/* A histogram of the cycles from call to call. */
#ifndef CPUC_TOOLS_PLOT_H
#define CPUC_TOOLS_PLOT_H

/* In the terminal; the exit status. Call setlocale(LC_CTYPE, "") before. */
int plot_print(void);

#endif
