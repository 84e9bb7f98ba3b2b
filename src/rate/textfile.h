/* SPDX-License-Identifier: 0BSD */
/* Small files whose content may be anything, and the numbers in them. */
#ifndef CPUC_TEXTFILE_H
#define CPUC_TEXTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A stated rate outside these limits, in Hz, is not believed. */
#define CPUC_HZ_MIN UINT64_C(1000000)
#define CPUC_HZ_MAX UINT64_C(100000000000)

/* number * unit, in Hz; 0: it is not believed. */
static inline uint64_t cpuc_hz_believed(uint64_t number, uint64_t unit)
{
	if (number > CPUC_HZ_MAX / unit)
		return 0;
	return number * unit < CPUC_HZ_MIN ? 0 : number * unit;
}

/* Tests put a directory in front of all paths. */
#ifndef CPUC_SYS_ROOT
#define CPUC_SYS_ROOT ""
#endif

/* Reads the whole file, never blocks: the number of bytes in buf, or -errno;
 * EFBIG if it fills buf. Adds no NUL. A blank ends the path, here and below. */
ssize_t cpuc_read_file(const char *path, char *buf, size_t size);

/* A device-tree number: one or two cells, big-endian. 0: the file is none. */
uint64_t cpuc_read_cells(const char *path);

/* The rate that the text states, truncated to whole Hz: white space, digits
 * with an optional point, in units of 10^exp10 Hz, optional blanks and `unit`
 * (may be ""), white space, and nothing else. 0: not that, or not believed. */
uint64_t cpuc_parse_hz(const char *text, int exp10, const char *unit);

/* Gives find() the file's lines, without newlines, until it returns what is not
 * 0, and returns that. Reads only the first MiB; skips lines of 512 bytes and
 * those that are cut off. A NUL becomes a question mark. */
uint64_t cpuc_find_line(const char *path,
			uint64_t (*find)(char *line, void *arg), void *arg);

#endif
