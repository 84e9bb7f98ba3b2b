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

/* Reads the whole file root + path: the number of bytes in buf, or -errno.
 * EFBIG when the file fills buf, as an endless one does: buf must be one byte
 * larger than the largest file wanted. Adds no NUL, never blocks. */
ssize_t cpuc_read_file(const char *root, const char *path, char *buf,
		       size_t size);

/* A device-tree number, one or two cells, big-endian on every CPU. 0 if the
 * file root + path is not one. */
uint64_t cpuc_read_cells(const char *root, const char *path);

/* The rate in text[0..len), cut to whole Hz: white space, digits with an
 * optional point, optional blanks and `unit` (may be ""), white space, and
 * nothing else; text[len] is NUL. The number is in units of 10^exp10 Hz (kHz:
 * 3). 0 for any other text, and outside CPUC_HZ_MIN ... CPUC_HZ_MAX. */
uint64_t cpuc_parse_hz(const char *text, size_t len, int exp10,
		       const char *unit);

/* A file being read line by line. Only the functions below use the fields. */
struct cpuc_lines {
	int fd;
	size_t budget; /* bytes that may still be read */
	size_t start;  /* buf[start..end) has been read but not returned */
	size_t end;
	bool skip; /* buf[start] continues a line that is too long */
	bool eof;
	char buf[1024 + 1];
};

/* 0 or -errno. Only the first `budget` bytes are read, and a line that they
 * cut off is left out. */
int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path,
		    size_t budget);

/* The next line, *len bytes and a NUL in place of its newline, valid until the
 * next call; NULL at the end. Lines longer than the buffer are left out. */
const char *cpuc_lines_next(struct cpuc_lines *l, size_t *len);

void cpuc_lines_close(struct cpuc_lines *l);

#endif
