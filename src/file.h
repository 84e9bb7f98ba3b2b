/* SPDX-License-Identifier: 0BSD */
/* Bounded reading of small files that may turn out to be anything. */
#ifndef CPUC_FILE_H
#define CPUC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Opens root + path to be read, whatever it is, without ever waiting for it.
 * A descriptor, or -errno (ENAMETOOLONG when the two together are longer
 * than a small buffer). */
int cpuc_open_file(const char *root, const char *path);

/* All of the file root + path: the number of bytes put into buf, or -errno.
 * EFBIG when it fills the buffer, as an endless file does: buf has to be one
 * byte longer than what it should hold. No NUL is added. */
ssize_t cpuc_read_file(const char *root, const char *path, char *buf,
		       size_t size);

/* A number in the device tree, one or two cells, big-endian on every CPU. 0 if
 * the file root + path is no such property. */
uint64_t cpuc_read_cells(const char *root, const char *path);

/* A file that is read line by line. All of it belongs to these functions. */
struct cpuc_lines {
	int fd;
	size_t budget; /* bytes that may still be read */
	size_t piece;  /* bytes to ask for at a time: at first, few */
	size_t start;  /* buf[start..end) has been read and not given out */
	size_t end;
	bool skip; /* the text at start is the rest of an overlong line */
	bool eof;
	char buf[2048];
};

/* 0 or -errno. Lines past the first `budget` bytes do not exist, nor does
 * the one that is cut off there. */
int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path,
		    size_t budget);

/* The next line, *len bytes without its newline, valid until the next call;
 * NULL at the end. Lines that are longer than the buffer are left out. */
const char *cpuc_lines_next(struct cpuc_lines *l, size_t *len);

void cpuc_lines_close(struct cpuc_lines *l);

#endif
