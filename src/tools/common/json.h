/* SPDX-License-Identifier: 0BSD */
/* Prints JSON (RFC 8259), with a line for each value. */
#ifndef CPUC_TOOLS_JSON_H
#define CPUC_TOOLS_JSON_H

#include <stdio.h>

/* First: where to. */
void json_begin(FILE *file);

/* Brackets. The key is NULL in an array, and outside of all. */
void json_open(const char *key, char bracket);
void json_close(char bracket);

/* A value as printf(3) makes it, and a text; NULL: null. */
void json_print(const char *key, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void json_text(const char *key, const char *value);

#endif
