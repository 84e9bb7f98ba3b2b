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

/* PATH_MAX would be much of a signal handler's stack. */
#define TEXTFILE_PATH_SIZE 512

/* Enough for hundreds of CPUs in /proc/cpuinfo, at about 1.5 KiB each. An
 * endless file ends here, too. */
#define LINES_BUDGET ((size_t)1 << 20)

static int textfile_open(const char *root, const char *path)
{
	char full[TEXTFILE_PATH_SIZE];
	size_t n = strlen(root), m = strcspn(path, " ");
	int fd;

	/* snprintf(3) would take a kilobyte of the stack. */
	if (n >= sizeof(full) || m >= sizeof(full) - n)
		return -ENAMETOOLONG;
	memcpy(full, root, n);
	memcpy(full + n, path, m);
	full[n + m] = '\0';
	/* O_NONBLOCK: a FIFO without a writer would block open() itself;
	 * O_NOCTTY: a daemon must not acquire a controlling terminal. */
	fd = cpuc_sys_open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

static ssize_t textfile_read(int fd, char *buf, size_t size)
{
	const ssize_t n = cpuc_sys_read(fd, buf, size);

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

int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path)
{
	l->fd = textfile_open(root, path);
	l->budget = LINES_BUDGET;
	l->next = l->end = 0;
	return l->fd < 0 ? l->fd : 0;
}

enum { END = -1, FAILED = -2 };

/* The next byte, or END or FAILED. */
static int textfile_byte(struct cpuc_lines *l)
{
	size_t size = sizeof(l->buf);
	ssize_t n;

	if (l->next == l->end) {
		if (size > l->budget)
			size = l->budget;
		n = size ? textfile_read(l->fd, l->buf, size) : -EFBIG;
		if (n <= 0)
			return n < 0 ? FAILED : END;
		l->budget -= (size_t)n;
		l->next = 0;
		l->end = (size_t)n;
	}
	return (unsigned char)l->buf[l->next++];
}

char *cpuc_lines_next(struct cpuc_lines *l)
{
	size_t len;
	int byte;

	do {
		len = 0;
		while ((byte = textfile_byte(l)) >= 0 && byte != '\n')
			if (len < sizeof(l->line))
				l->line[len++] = (char)(byte ? byte : '?');
		/* A cut line may hold a cut number. */
		if (byte == FAILED || (byte == END && len == 0))
			return NULL;
	} while (len == sizeof(l->line));
	l->line[len] = '\0';
	return l->line;
}

void cpuc_lines_close(struct cpuc_lines *l)
{
	cpuc_sys_close(l->fd);
}

#endif

/* Parses digits with at most one point, which may be first or last, in units of
 * 10^exp10 Hz, and returns the rest of the text. Truncates to whole Hz; a
 * number above CPUC_HZ_MAX stays above it, but may not be exact. Not strtod(),
 * whose point depends on the locale, and which accepts hexadecimal, nan and
 * inf. */
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

uint64_t cpuc_parse_hz(const char *text, int exp10, const char *unit)
{
	/* Not isspace(), to which a locale may add bytes. */
	static const char space[] = " \t\n\v\f\r";
	const char *p = text + strspn(text, space);
	uint64_t hz;

	p = textfile_decimal(p, exp10, &hz);
	p += strspn(p, " \t");
	if (strncmp(p, unit, strlen(unit)) != 0)
		return 0;
	p += strlen(unit);
	p += strspn(p, space);
	return *p == '\0' ? cpuc_hz_believed(hz, 1) : 0;
}
