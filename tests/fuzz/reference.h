/* SPDX-License-Identifier: 0BSD */
/* The parsers of files again, slowly and by other means: C strings. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include "fuzz.h"
#include "system/textfile.h"

#define REF_BLANKS " \t"
#define REF_LINE_MAX 1024 /* longer lines, or files, are left out */
#define REF_MIN 1000000u
#define REF_MAX UINT64_C(100000000000)

/* Numbers are unit_textfile's: it has a table of them. */
static uint64_t ref_hz(const char *text, size_t len, int exp10,
		       const char *unit)
{
	char *copy = calloc(1, len + 1);
	uint64_t hz;

	MUST(copy, "no memory");
	memcpy(copy, text, len);
	hz = cpuc_parse_hz(copy, len, exp10, unit);
	MUST(hz == 0 || (hz >= REF_MIN && hz <= REF_MAX), "%llu",
	     (unsigned long long)hz);
	free(copy);
	return hz;
}

/* The right result of cpuc_read_cells. */
__attribute__((unused)) static uint64_t ref_cells(const char *data, size_t size)
{
	uint64_t number = 0;
	size_t i;

	for (i = 0; i < size && (size == 4 || size == 8); i++)
		number = number * 256 + (unsigned char)data[i];
	return number;
}

/* The value of the first line that has this key, blanks around it, and a good
 * number; *where: its offset. */
static uint64_t ref_line(const char *text, size_t size, const char *key,
			 int exp10, const char *unit, size_t *where)
{
	size_t len, at, n = strlen(key);
	const char *line, *newline, *colon;
	uint64_t hz;

	for (*where = 0; *where < size; *where += len + 1) {
		line = text + *where;
		newline = memchr(line, '\n', size - *where);
		len = newline ? (size_t)(newline - line) : size - *where;
		colon = memchr(line, ':', len);
		if (colon == NULL || len >= REF_LINE_MAX)
			continue;
		/* There is a colon, so that this ends. */
		at = strspn(line, REF_BLANKS);
		if ((size_t)(colon - line) < at + n ||
		    memcmp(line + at, key, n) != 0)
			continue;
		at += n + strspn(line + at + n, REF_BLANKS);
		if (line + at != colon)
			continue;
		at = (size_t)(colon + 1 - line);
		hz = ref_hz(line + at, len - at, exp10, unit);
		if (hz != 0)
			return hz;
	}
	return 0;
}

/* The frequency that /proc/cpuinfo states, and its key. */
__attribute__((unused)) static uint64_t
ref_cpuinfo(const char *text, size_t size, const char **key)
{
	static const struct {
		const char *key, *unit;
	} keys[] = {{"cpu MHz", ""},
		    {"CPU MHz", ""},
		    {"clock", "MHz"},
		    {"cpu MHz static", ""}};
	uint64_t hz[4] = {0};
	size_t i, first = 0, where[4] = {0};

	for (i = 0; i < 4; i++)
		hz[i] = ref_line(text, size, keys[i].key, 6, keys[i].unit,
				 &where[i]);
	/* The first in the file. */
	for (i = 1; i < 4; i++)
		if (hz[i] != 0 && (hz[first] == 0 || where[i] < where[first]))
			first = i;
	*key = keys[first].key;
	return hz[first];
}

__attribute__((unused)) static bool ref_of_core(const char *key)
{
	return strcmp(key, "clock") == 0 || strstr(key, "static") != NULL;
}

/* The number in a file that may have comments. */
__attribute__((unused)) static uint64_t ref_commented(const char *text,
						      size_t len)
{
	char *copy = malloc(len + 1);
	size_t at = 0, end;
	uint64_t hz;

	MUST(copy, "no memory");
	while (len) {
		for (end = 0; end < len && text[end] != '\n'; end++)
			;
		for (size_t i = 0; i < end && text[i] != '#'; i++)
			copy[at++] = text[i];
		copy[at++] = '\n';
		end += end < len;
		text += end;
		len -= end;
	}
	hz = ref_hz(copy, at, 0, "");
	free(copy);
	return hz;
}

__attribute__((unused)) static uint64_t ref_timebase(const char *text,
						     size_t size)
{
	size_t where;

	return ref_line(text, size, "timebase", 0, "", &where);
}

#endif
