/* SPDX-License-Identifier: 0BSD */
/* Text for people, as wide as the terminal. */
#ifndef CPUC_TOOLS_TERMINAL_H
#define CPUC_TOOLS_TERMINAL_H

/* The columns, at least 20. 80 where nobody says how many there are. */
int terminal_width(void);

/* Prints text behind `at` columns that have been printed, and a newline, in
 * lines no longer than the terminal is wide. Those that follow are indented. */
void terminal_print(int at, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
