/* SPDX-License-Identifier: 0BSD */
/* Writes JSON (RFC 8259). */
#include <config.h>
#include "json.h"

/* The length of the UTF-8 character that text begins with (Unicode, table 3-7:
 * well-formed byte sequences), or 0. */
static int utf8_length(const unsigned char *text)
{
	static const struct {
		unsigned char first, last, low, high; /* of bytes 1 and 2 */
		int length;
	} forms[] = {
		{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2},
		{0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
		{0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
		{0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4},
		{0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	size_t f = 0;
	int i;

	while (f < sizeof forms / sizeof *forms &&
	       (*text < forms[f].first || *text > forms[f].last))
		f++;
	if (f == sizeof forms / sizeof *forms)
		return 0;
	if (forms[f].length > 1 &&
	    (text[1] < forms[f].low || text[1] > forms[f].high))
		return 0;
	for (i = 2; i < forms[f].length; i++)
		if (text[i] < 0x80 || text[i] > 0xbf)
			return 0;
	return forms[f].length;
}

static void put_string(FILE *file, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	int length;

	putc('"', file);
	for (; *s != '\0'; s += length) {
		length = utf8_length(s);
		if (length == 0) {
			/* An environment may hold any bytes. */
			fputs("\\ufffd", file);
			length = 1;
		} else if (*s < ' ' || *s == 0x7f) {
			fprintf(file, "\\u%04x", *s);
		} else {
			if (*s == '"' || *s == '\\')
				putc('\\', file);
			fwrite(s, 1, (size_t)length, file);
		}
	}
	putc('"', file);
}

static void indent(struct json *j)
{
	int i;

	putc('\n', j->file);
	for (i = 0; i < j->depth; i++)
		putc('\t', j->file);
}

static void begin(struct json *j, const char *key, int in_row)
{
	if (!j->empty)
		putc(',', j->file);
	if (in_row && !j->empty && j->lines)
		putc(' ', j->file);
	else if (!in_row && j->depth > 0 && j->lines)
		indent(j);
	j->empty = 0;
	j->in_row = in_row;
	if (key == NULL)
		return;
	put_string(j->file, key);
	fputs(j->lines ? ": " : ":", j->file);
}

void json_open(struct json *j, const char *key, char bracket)
{
	begin(j, key, 0);
	putc(bracket, j->file);
	j->empty = 1;
	j->depth++;
}

void json_close(struct json *j, char bracket)
{
	j->depth--;
	if (!j->empty && !j->in_row && j->lines)
		indent(j);
	putc(bracket, j->file);
	j->empty = 0;
	j->in_row = 0;
	if (j->depth == 0)
		putc('\n', j->file);
}

void json_string(struct json *j, const char *key, const char *value)
{
	begin(j, key, 0);
	put_string(j->file, value);
}

void json_integer(struct json *j, const char *key, long long value)
{
	begin(j, key, key == NULL);
	fprintf(j->file, "%lld", value);
}

void json_number(struct json *j, const char *key, double value)
{
	begin(j, key, key == NULL);
	fprintf(j->file, "%.9g", value);
}

void json_boolean(struct json *j, const char *key, int value)
{
	begin(j, key, 0);
	fputs(value ? "true" : "false", j->file);
}

void json_null(struct json *j, const char *key)
{
	begin(j, key, 0);
	fputs("null", j->file);
}
