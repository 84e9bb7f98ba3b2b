/* SPDX-License-Identifier: 0BSD */
/* Small files whose content may be anything, and the numbers in them. */
#include <config.h>

#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Not PATH_MAX: the first call may come in a signal handler. Roots are those of
 * tests. */
#define PATH_SIZE 512

/* Less than the part of /proc/cpuinfo about the first CPU, which is usually
 * enough. The kernel then does not format the second CPU's, about 12 us. */
#define FIRST_PIECE 512

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
		fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	return fd < 0 ? -errno : fd;
}

static ssize_t textfile_read(int fd, char *buf, size_t size)
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
	int fd = textfile_open(root, path);

	if (fd < 0)
		return fd;
	do {
		n = textfile_read(fd, buf + have, size - have);
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

/* A decimal number, read without strtod: that takes its point from the locale,
 * and accepts hexadecimal, nan and inf. Its value is digits * 10^exponent, or
 * less than one unit of that more if `inexact`. */
struct number {
	const char *at, *end; /* the text that follows */
	uint64_t digits;
	int64_t exponent;
	bool inexact;
};

/* Beyond the length of any text; sums of a few of these cannot overflow. */
#define EXPONENT_MAX (INT64_MAX / 100)

/* The next byte; a NUL at the end, and any NUL in the text ends it early. */
static char textfile_peek(const struct number *n)
{
	if (n->at < n->end)
		return *n->at;
	return '\0';
}

/* The value of the next byte as a digit; above 9 when it is none. */
static unsigned textfile_digit(const struct number *n)
{
	return (unsigned)textfile_peek(n) - '0';
}

/* Not by isspace(): a locale may add bytes to that. */
static void textfile_skip(struct number *n, const char *set)
{
	while (textfile_peek(n) != '\0' && strchr(set, *n->at) != NULL)
		n->at++;
}

/* Digits with at most one point, which may be first or last; none at all are
 * 0. A second point is left for the caller to reject. */
static void textfile_digits(struct number *n)
{
	bool point = false;

	for (;; n->at++) {
		unsigned digit = textfile_digit(n);

		if (digit > 9) {
			if (point || textfile_peek(n) != '.')
				return;
			point = true;
			continue;
		}
		/* Digits beyond the 17th can only decide how to round. */
		if (n->digits < CPUC_HZ_MAX * 100000) {
			n->digits = n->digits * 10 + digit;
		} else {
			n->inexact |= digit != 0;
			n->exponent++;
		}
		n->exponent -= point;
	}
}

/* An optional exponent. False: an e without digits. */
static bool textfile_exponent(struct number *n)
{
	int64_t exponent = 0;
	char sign;

	if (textfile_peek(n) != 'e' && textfile_peek(n) != 'E')
		return true;
	n->at++;
	sign = textfile_peek(n);
	if (sign == '+' || sign == '-')
		n->at++;
	if (textfile_digit(n) > 9)
		return false;
	for (; textfile_digit(n) <= 9; n->at++)
		if (exponent < EXPONENT_MAX / 10)
			exponent = exponent * 10 + textfile_digit(n);
	n->exponent += sign == '-' ? -exponent : exponent;
	return true;
}

static uint64_t textfile_round(struct number n)
{
	uint64_t hz = n.digits;
	unsigned tenths = 0;

	for (; n.exponent > 0 && hz > 0 && hz <= CPUC_HZ_MAX; n.exponent--)
		hz *= 10;
	for (; n.exponent < 0 && hz > 0; n.exponent++) {
		n.inexact |= tenths != 0;
		tenths = (unsigned)(hz % 10);
		hz /= 10;
	}
	if (hz < CPUC_HZ_MIN || hz > CPUC_HZ_MAX ||
	    (hz == CPUC_HZ_MAX && (tenths != 0 || n.inexact)))
		return 0;
	return hz + (tenths >= 5);
}

uint64_t cpuc_parse_hz(const char *text, size_t len, int exp10,
		       const char *unit)
{
	static const char space[] = " \t\n\v\f\r";
	struct number n = {text, text + len, .exponent = exp10};

	textfile_skip(&n, space);
	textfile_digits(&n);
	if (!textfile_exponent(&n))
		return 0;
	if (*unit)
		textfile_skip(&n, " \t");
	for (; *unit; unit++, n.at++)
		if (textfile_peek(&n) != *unit)
			return 0;
	textfile_skip(&n, space);
	return n.at == n.end ? textfile_round(n) : 0;
}

int cpuc_lines_open(struct cpuc_lines *l, const char *root, const char *path,
		    size_t budget)
{
	l->fd = textfile_open(root, path);
	l->budget = budget;
	l->piece = FIRST_PIECE;
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
			textfile_fill(l);
		}
	}
}

void cpuc_lines_close(struct cpuc_lines *l)
{
	close(l->fd);
}
