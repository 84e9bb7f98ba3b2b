/* SPDX-License-Identifier: 0BSD */
/* What Linux says the rate of a time base is, a clock outside the core. */
#include <config.h>
#include <stddef.h>
#include <string.h>
#include "file.h"
#include "number.h"
#include "timebase.h"

/* The line comes after those of all CPUs, each of some 100 bytes; and this
 * ends a file that has no end. */
#define CPUINFO_MAX ((size_t)1 << 20)

/* The Hz of a line "timebase : 512000000"; 0: it is another line. */
static uint64_t parse_line(const char *line, size_t len)
{
	static const char key[] = "timebase";
	const char *value = memchr(line, ':', len);
	size_t i = sizeof key - 1;

	if (value == NULL || len < i || memcmp(line, key, i) != 0)
		return 0;
	for (; line + i < value; i++)
		if (line[i] != ' ' && line[i] != '\t')
			return 0;
	value++;
	return cpuc_parse_hz(value, (size_t)(line + len - value), 0, "");
}

uint64_t cpuc_timebase(const char *root)
{
	struct cpuc_lines lines;
	const char *line;
	size_t len;
	uint64_t hz = cpuc_read_cells(
		root, "/proc/device-tree/cpus/timebase-frequency");

	if (hz != 0 ||
	    cpuc_lines_open(&lines, root, "/proc/cpuinfo", CPUINFO_MAX) != 0)
		return hz;
	while (hz == 0 && (line = cpuc_lines_next(&lines, &len)) != NULL)
		hz = parse_line(line, len);
	cpuc_lines_close(&lines);
	return hz;
}
