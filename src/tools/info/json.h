/* SPDX-License-Identifier: 0BSD */
/* Writes JSON (RFC 8259). */
#ifndef CPUC_TOOLS_JSON_H
#define CPUC_TOOLS_JSON_H

#include <stdio.h>

struct json {
	FILE *file;
	int lines; /* 1: for people, a member a line; 0: all in one line */
	int depth;
	int empty;  /* nothing is in the innermost brackets yet */
	int in_row; /* the last value is one of those side by side */
};

/* A value in whatever is open: `key` is its name in an object, NULL in an
 * array. Numbers in an array are written side by side. The number must be
 * finite; LC_NUMERIC must be "C", as it is unless a program sets it. */
void json_open(struct json *j, const char *key, char bracket);
void json_close(struct json *j, char bracket);
void json_string(struct json *j, const char *key, const char *value);
void json_integer(struct json *j, const char *key, long long value);
void json_number(struct json *j, const char *key, double value);
void json_boolean(struct json *j, const char *key, int value);
void json_null(struct json *j, const char *key);

#endif
