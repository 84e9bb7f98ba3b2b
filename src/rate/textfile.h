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

/* Reads the whole file root + path: the number of bytes in buf, or -errno. A
 * blank ends the path, here and below. EFBIG if the file fills buf: it must be
 * a byte larger than the largest file wanted. Adds no NUL, never blocks. */
ssize_t cpuc_read_file(const char *root, const char *path, char *buf,
		       size_t size);

/* A device-tree number, one or two cells, big-endian on every CPU. 0 if the
 * file root + path is not one. */
uint64_t cpuc_read_cells(const char *root, const char *path);

/* The rate that the text states, truncated to whole Hz: white space, digits
 * with an optional point, optional blanks and `unit` (may be ""), white space,
 * and nothing else. The number is in units of 10^exp10 Hz (kHz: 3). 0 for any
 * other text, and outside CPUC_HZ_MIN ... CPUC_HZ_MAX. */
uint64_t cpuc_parse_hz(const char *text, int exp10, const char *unit);

/* A file being read line by line. Only the functions below use the fields. */
struct cpuc_lines {
	int fd;
	size_t budget;    /* bytes that may still be read */
	size_t next, end; /* buf[next..end) is not yet in a line */
	char buf[512];
	char line[512];
};

/* 0 or -errno. Only the first MiB of a file is read. */
int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path);

/* The next line, without its newline, valid until the next call; NULL at the
 * end. Lines longer than the buffer, or cut off by an error, are skipped. A NUL
 * becomes a question mark. */
char *cpuc_lines_next(struct cpuc_lines *l);

void cpuc_lines_close(struct cpuc_lines *l);

#endif
