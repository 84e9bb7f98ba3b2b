/* SPDX-License-Identifier: 0BSD */
/* Bounded reading of small files that may turn out to be anything. */
#include <config.h>

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Not PATH_MAX: the first call may come from a thread with 16 KiB of stack. */
#define PATH_SIZE 1024

/* Less than what /proc/cpuinfo has of the first CPU, which is mostly enough:
 * the kernel then does not write about the second, some 12 us. */
#define FIRST_PIECE 512

int cpuc_open_file(const char *root, const char *path)
{
	char full[PATH_SIZE];
	size_t n = strlen(root), m = strlen(path);
	int fd;

	if (n >= sizeof(full) || m >= sizeof(full) - n)
		return -ENAMETOOLONG;
	memcpy(full, root, n);
	memcpy(full + n, path, m + 1);
	/* O_NONBLOCK: a FIFO without a writer would hold up open() itself;
	 * O_NOCTTY: a tty would become the terminal of a daemon. */
	do
		fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static ssize_t read_some(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t cpuc_read_file(const char *root, const char *path, char *buf,
		       size_t size)
{
	size_t have = 0;
	ssize_t n;
	int fd = cpuc_open_file(root, path);

	if (fd < 0)
		return fd;
	do {
		n = read_some(fd, buf + have, size - have);
		if (n > 0)
			have += (size_t)n;
	} while (n > 0 && have < size);
	close(fd);
	if (n < 0)
		return n;
	return have < size ? (ssize_t)have : -EFBIG;
}

uint64_t cpuc_read_cells(const char *root, const char *path)
{
	unsigned char buf[9];
	ssize_t n = cpuc_read_file(root, path, (char *)buf, sizeof(buf));
	uint64_t number = 0;

	if (n != 4 && n != 8)
		return 0;
	for (ssize_t i = 0; i < n; i++)
		number = number << 8 | buf[i];
	return number;
}

int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path,
		    size_t budget)
{
	l->fd = cpuc_open_file(root, path);
	l->budget = budget;
	l->piece = FIRST_PIECE;
	l->start = l->end = 0;
	l->skip = l->eof = false;
	return l->fd < 0 ? l->fd : 0;
}

/* Reads more behind the unfinished line buf[start..end). */
static void lines_fill(struct cpuc_lines *l)
{
	size_t space;
	ssize_t n = -EFBIG;

	l->end -= l->start;
	memmove(l->buf, l->buf + l->start, l->end);
	l->start = 0;
	if (l->end == sizeof(l->buf)) {
		l->skip = true;
		l->end = 0;
	}
	space = sizeof(l->buf) - l->end;
	if (space > l->piece)
		space = l->piece;
	l->piece = sizeof(l->buf);
	if (space > l->budget)
		space = l->budget;
	if (space)
		n = read_some(l->fd, l->buf + l->end, space);
	if (n > 0) {
		l->end += (size_t)n;
		l->budget -= (size_t)n;
		return;
	}
	l->eof = true;
	/* Half a line may hold half a number. */
	if (n < 0)
		l->skip = true;
}

const char *cpuc_lines_next(struct cpuc_lines *l, size_t *len)
{
	for (;;) {
		const char *line = l->buf + l->start;
		const char *newline = memchr(line, '\n', l->end - l->start);
		bool skip = l->skip;

		if (newline) {
			*len = (size_t)(newline - line);
			l->start += *len + 1;
			l->skip = false;
			if (!skip)
				return line;
		} else if (l->eof) {
			*len = l->end - l->start;
			l->start = l->end;
			return skip || !*len ? NULL : line;
		} else {
			lines_fill(l);
		}
	}
}

void cpuc_lines_close(struct cpuc_lines *l)
{
	close(l->fd);
}
