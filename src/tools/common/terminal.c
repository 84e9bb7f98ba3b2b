/* SPDX-License-Identifier: 0BSD */
/* Text for people, as wide as the terminal. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif
#include "terminal.h"

#define LEAST 20
#define MOST 1000
#define LINE_INDENT 4

static FILE *terminal_file;

void terminal_to(FILE *f)
{
	terminal_file = f;
}

static FILE *terminal_out(void)
{
	return terminal_file != NULL ? terminal_file : stdout;
}

/* Shells rarely export COLUMNS: if it is there, the user wants it. */
int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
#ifndef _WIN32
	struct winsize size;

	if (width <= 0 && ioctl(fileno(terminal_out()), TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
#endif
	width = width > 0 ? width : 80;
	return width < LEAST ? LEAST : width > MOST ? MOST : (int)width;
}

/* Breaks lines at blanks, and words that are longer than a line. What is no
 * ASCII may be anything. */
__attribute__((format(printf, 3, 0))) static void
terminal_text(int at, int indent, const char *format, va_list values)
{
	const int width = terminal_width();
	FILE *const f = terminal_out();
	char text[2048], *c;
	int needs;

	vsnprintf(text, sizeof text, format, values);
	for (c = text; *c != '\0'; c++) {
		needs = 1 + (*c == ' ' ? (int)strcspn(c + 1, " ") : 0);
		if (at + needs > width) {
			at = fprintf(f, "\n%*s", indent, "") - 1;
			if (*c == ' ')
				continue;
		}
		putc(*c < ' ' || *c > '~' ? '?' : *c, f);
		at++;
	}
	putc('\n', f);
}

void terminal_print(int at, int indent, const char *format, ...)
{
	va_list values;

	va_start(values, format);
	terminal_text(at, indent, format, values);
	va_end(values);
}

void terminal_line(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	if (isatty(fileno(terminal_out()))) {
		terminal_text(0, LINE_INDENT, format, values);
	} else {
		vfprintf(terminal_out(), format, values);
		putc('\n', terminal_out());
	}
	va_end(values);
}

void terminal_row(int columns, const char *name, const char *format, ...)
{
	va_list values;

	if (columns + TERMINAL_TEXT <= terminal_width())
		fprintf(terminal_out(), "%-*s", columns, name);
	else {
		columns = TERMINAL_INDENT;
		fprintf(terminal_out(), "%s%s%*s", name,
			*name != '\0' ? "\n" : "", columns, "");
	}
	va_start(values, format);
	terminal_text(columns, columns, format, values);
	va_end(values);
}
