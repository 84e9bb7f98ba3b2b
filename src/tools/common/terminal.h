/* SPDX-License-Identifier: 0BSD */
/* Text for people, as wide as the terminal. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdio.h>

/* All goes to this file, instead of standard output. */
void terminal_to(FILE *f);

/* The terminal's columns, at least 20. 80 where nobody says how many. */
int terminal_width(void);

/* Prints text behind `at` columns that have been printed, and a newline, in
 * lines no longer than the terminal is wide. Those that follow are indented. */
void terminal_print(int at, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* A line that programs read: whole, unless it goes to a terminal. */
void terminal_line(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* terminal_print() behind a name in the first columns, so many; below it where
 * the terminal leaves fewer than these for the text. */
#define TERMINAL_TEXT 24
#define TERMINAL_INDENT 2
void terminal_row(int columns, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
