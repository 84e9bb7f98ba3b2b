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

/* Reads the whole file root + path: the number of bytes in buf, or -errno;
 * EFBIG if the file fills buf. A blank ends the path, here and below. Adds no
 * NUL, never blocks. */
ssize_t cpuc_read_file(const char *root, const char *path, char *buf,
		       size_t size);

/* A device-tree number: one or two cells, big-endian. 0: the file is none. */
uint64_t cpuc_read_cells(const char *root, const char *path);

/* The rate that the text states, truncated to whole Hz: white space, digits
 * with an optional point, in units of 10^exp10 Hz, optional blanks and `unit`
 * (may be ""), white space, and nothing else. 0 for any other text, or not
 * believed. */
uint64_t cpuc_parse_hz(const char *text, int exp10, const char *unit);

/* Gives find() the lines of the file root + path, without their newlines, until
 * it returns what is not 0, and returns that. Only the first MiB is read. Lines
 * of 512 bytes, or cut off, are skipped. A NUL becomes a question mark. */
uint64_t cpuc_find_line(const char *root, const char *path,
			uint64_t (*find)(char *line, void *arg), void *arg);

#endif
