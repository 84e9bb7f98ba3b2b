/* SPDX-License-Identifier: 0BSD */
/* Small files whose content may be anything, and the numbers in them. */
#include <config.h>

#include "textfile.h"

#include <string.h>

/* Windows states nothing in files. */
#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include "../system/syscalls.h"

/* Not PATH_MAX: the first call may come in a signal handler. Roots are those of
 * tests. */
#define PATH_SIZE 512

static int textfile_open(const char *root, const char *path)
{
	char full[PATH_SIZE];
	size_t n = strlen(root), m = strlen(path);
	int fd;

	if (n >= sizeof(full) || m >= sizeof(full) - n)
		return -ENAMETOOLONG;
	memcpy(full, root, n);
	memcpy(full + n, path, m + 1);
	/* O_NONBLOCK: a FIFO without a writer would block open() itself;
	 * O_NOCTTY: a daemon must not acquire a controlling terminal. */
	do
		fd = cpuc_sys_open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
						 O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static ssize_t textfile_read(int fd, char *buf, size_t size)
{
	ssize_t n;

	do
		n = cpuc_sys_read(fd, buf, size);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t cpuc_read_file(const char *root, const char *path, char *buf,
		       size_t size)
{
	size_t have = 0;
	ssize_t n;
	int fd = textfile_open(root, path);

	if (fd < 0)
		return fd;
	do {
		n = textfile_read(fd, buf + have, size - have);
		if (n > 0)
			have += (size_t)n;
	} while (n > 0 && have < size);
	cpuc_sys_close(fd);
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

/* The last byte is for a NUL. */
#define LINES_SIZE (sizeof(((struct cpuc_lines *)NULL)->buf) - 1)

int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path,
		    size_t budget)
{
	l->fd = textfile_open(root, path);
	l->budget = budget;
	l->start = l->end = 0;
	l->skip = l->eof = false;
	return l->fd < 0 ? l->fd : 0;
}

/* Reads more text to follow the unfinished line buf[start..end). */
static void textfile_fill(struct cpuc_lines *l)
{
	size_t space;
	ssize_t n = -EFBIG;

	l->end -= l->start;
	memmove(l->buf, l->buf + l->start, l->end);
	l->start = 0;
	if (l->end == LINES_SIZE) {
		l->skip = true;
		l->end = 0;
	}
	space = LINES_SIZE - l->end;
	if (space > l->budget)
		space = l->budget;
	if (space)
		n = textfile_read(l->fd, l->buf + l->end, space);
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
		char *line = l->buf + l->start;
		char *newline = memchr(line, '\n', l->end - l->start);
		bool skip = l->skip;

		if (newline) {
			*newline = '\0';
			*len = (size_t)(newline - line);
			l->start += *len + 1;
			l->skip = false;
			if (!skip)
				return line;
		} else if (l->eof) {
			l->buf[l->end] = '\0';
			*len = l->end - l->start;
			l->start = l->end;
			return skip || !*len ? NULL : line;
		} else {
			textfile_fill(l);
		}
	}
}

void cpuc_lines_close(struct cpuc_lines *l)
{
	cpuc_sys_close(l->fd);
}

#endif

/* Digits with at most one point, which may be first or last, in units of
 * 10^exp10 Hz; cut to whole Hz, and more than CPUC_HZ_MAX where that many are
 * too many. Not by strtod(), which takes its point from the locale, and accepts
 * hexadecimal, nan and inf. Returns the rest. */
static const char *textfile_decimal(const char *p, int exp10, uint64_t *hz)
{
	bool point = false;

	for (*hz = 0; (*p >= '0' && *p <= '9') || (*p == '.' && !point); p++) {
		if (*p == '.')
			point = true;
		else if ((!point || exp10-- > 0) && *hz <= CPUC_HZ_MAX)
			*hz = *hz * 10 + (uint64_t)(*p - '0');
	}
	for (; exp10 > 0 && *hz <= CPUC_HZ_MAX; exp10--)
		*hz *= 10;
	return p;
}

uint64_t cpuc_parse_hz(const char *text, size_t len, int exp10,
		       const char *unit)
{
	/* Not by isspace(): a locale may add bytes to that. */
	static const char space[] = " \t\n\v\f\r";
	const char *p = text + strspn(text, space);
	uint64_t hz;

	p = textfile_decimal(p, exp10, &hz);
	if (*unit)
		p += strspn(p, " \t");
	if (strncmp(p, unit, strlen(unit)) != 0)
		return 0;
	p += strlen(unit);
	p += strspn(p, space);
	return p == text + len && hz >= CPUC_HZ_MIN && hz <= CPUC_HZ_MAX ? hz
									 : 0;
}
