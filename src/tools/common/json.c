/* SPDX-License-Identifier: 0BSD */
/* Prints JSON (RFC 8259), with a line for each value. */
#include <config.h>
#include <stdarg.h>
#include <stdbool.h>
#include "json.h"

static FILE *json_file;
static int json_depth;
static bool json_first; /* in its object or array */

void json_begin(FILE *file)
{
	json_file = file;
}

static void json_line(void)
{
	fprintf(json_file, "\n%.*s", json_depth, "\t\t\t\t\t\t\t\t");
}

/* What comes before a value. */
static void json_key(const char *key)
{
	if (json_depth == 0)
		return;
	if (!json_first)
		putc(',', json_file);
	json_first = false;
	json_line();
	if (key != NULL)
		fprintf(json_file, "\"%s\": ", key);
}

void json_open(const char *key, char bracket)
{
	json_key(key);
	putc(bracket, json_file);
	json_depth++;
	json_first = true;
}

void json_close(char bracket)
{
	json_depth--;
	if (!json_first)
		json_line();
	json_first = false;
	fprintf(json_file, json_depth == 0 ? "%c\n" : "%c", bracket);
}

void json_print(const char *key, const char *format, ...)
{
	va_list ap;

	json_key(key);
	va_start(ap, format);
	vfprintf(json_file, format, ap);
	va_end(ap);
}

/* ASCII, as the environment may hold any bytes. */
void json_text(const char *key, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;

	if (value == NULL) {
		json_print(key, "null");
		return;
	}
	json_key(key);
	putc('"', json_file);
	for (; *s != '\0'; s++)
		if (*s < ' ' || *s >= 0x7f || *s == '"' || *s == '\\')
			fprintf(json_file, "\\u%04x", *s < 0x7f ? *s : 0xfffd);
		else
			putc(*s, json_file);
	putc('"', json_file);
}
