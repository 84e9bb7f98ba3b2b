/* SPDX-License-Identifier: 0BSD */
/* Text for people, as wide as the terminal. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <sys/ioctl.h>
#endif
#include "terminal.h"

#define LEAST 20
#define MOST 1000

/* Shells rarely export COLUMNS: if it is there, the user wants it. */
int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns != NULL ? strtol(columns, NULL, 10) : 0;
#ifndef _WIN32
	struct winsize size;

	if (width <= 0 && ioctl(1, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
#endif
	width = width > 0 ? width : 80;
	return width < LEAST ? LEAST : width > MOST ? MOST : (int)width;
}

/* A word, which may be longer than a line. What is no ASCII may be anything. */
static int terminal_word(int at, int indent, const char *word, int n)
{
	const int width = terminal_width();

	for (; n > 0; n--, word++, at++) {
		if (at == width)
			at = printf("\n%*s", indent, "") - 1;
		putchar(*word < ' ' || *word > '~' ? '?' : *word);
	}
	return at;
}

void terminal_print(int at, int indent, const char *format, ...)
{
	const int width = terminal_width();
	char text[2048], *word = text;
	va_list values;
	int n;

	va_start(values, format);
	vsnprintf(text, sizeof text, format, values);
	va_end(values);
	for (; *word != '\0'; word += n + (word[n] == ' ')) {
		n = (int)strcspn(word, " ");
		if (word > text && at + 1 + n > width)
			at = printf("\n%*s", indent, "") - 1;
		else if (word > text)
			at += printf(" ");
		at = terminal_word(at, indent, word, n);
	}
	putchar('\n');
}
