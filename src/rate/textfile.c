/* SPDX-License-Identifier: 0BSD */
/* Small files whose content may be anything, and the numbers in them. */
#include <config.h>
#include <string.h>
#include "textfile.h"

#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include "../system/syscalls.h"

#define TEXTFILE_PATH_SIZE 512 /* PATH_MAX is much of a handler's stack */

/* Enough for hundreds of CPUs in /proc/cpuinfo. An endless file ends, too. */
#define LINES_BUDGET (1 << 20)

static int textfile_open(const char *path)
{
	char full[TEXTFILE_PATH_SIZE];
	size_t n = strlen(CPUC_SYS_ROOT), m = strcspn(path, " ");
	int fd;

	/* snprintf(3) would take a kilobyte of the stack. */
	if (n >= sizeof(full) || m >= sizeof(full) - n)
		return -ENAMETOOLONG;
	memcpy(full, CPUC_SYS_ROOT, n);
	memcpy(full + n, path, m);
	full[n + m] = '\0';
	/* Not to wait for a FIFO's writer, nor acquire a terminal. */
	fd = cpuc_sys_open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

ssize_t cpuc_read_file(const char *path, char *buf, size_t size)
{
	size_t have = 0;
	ssize_t n = 0;
	int fd = textfile_open(path);

	if (fd < 0)
		return fd;
	while (have < size &&
	       (n = cpuc_sys_read(fd, buf + have, size - have)) > 0)
		have += (size_t)n;
	if (n < 0)
		n = -errno;
	else
		n = have < size ? (ssize_t)have : -EFBIG;
	cpuc_sys_close(fd);
	return n;
}

uint64_t cpuc_read_cells(const char *path)
{
	unsigned char buf[9];
	ssize_t n = cpuc_read_file(path, (char *)buf, sizeof(buf));
	uint64_t number = 0;

	if (n != 4 && n != 8)
		return 0;
	for (ssize_t i = 0; i < n; i++)
		number = number << 8 | buf[i];
	return number;
}

uint64_t cpuc_find_line(const char *path,
			uint64_t (*find)(char *line, void *arg), void *arg)
{
	char buf[512], line[512];
	size_t len = 0;
	ssize_t n, i, all = 0;
	bool last;
	uint64_t found = 0;
	int fd = textfile_open(path);

	if (fd < 0)
		return 0;
	do {
		n = cpuc_sys_read(fd, buf, sizeof(buf));
		last = n <= 0;
		/* The last line may lack its newline. But one that an error or
		 * the budget cuts off may hold a cut number. */
		if (n == 0)
			buf[n++] = '\n';
		for (i = 0; i < n && found == 0; i++) {
			if (buf[i] != '\n') {
				if (len < sizeof(line))
					line[len++] =
						(char)(buf[i] ? buf[i] : '?');
				continue;
			}
			if (len < sizeof(line)) {
				line[len] = '\0';
				found = find(line, arg);
			}
			len = 0;
		}
		all += n;
	} while (!last && found == 0 && all < LINES_BUDGET);
	cpuc_sys_close(fd);
	return found;
}

#endif

/* Parses digits with at most one point, in units of 10^exp10 Hz, and returns
 * the rest of the text. A number above CPUC_HZ_MAX stays above it, but may not
 * be exact. strtod(3) would depend on the locale, and accept nan. */
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
