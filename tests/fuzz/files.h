/* SPDX-License-Identifier: 0BSD */
/* Pretended files under textfile.c, which is included: no file system, so that
 * a case takes microseconds, and reads that are short, interrupted or fail. */
#ifndef FILES_H
#define FILES_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include "fuzz.h"

#define ROOT "/r" /* other files do not exist */
#define FILES 16
#define FD 1000

static struct fuzz_file {
	const char *path;
	const char *data;
	size_t size;
} files[FILES];
static size_t nfiles;

static size_t offset[FILES]; /* where the next read begins */
static int files_open;
static size_t chunk;            /* the most that a read gives */
static size_t fails = SIZE_MAX; /* reads from there on give EIO */
static unsigned interrupts;     /* one of so many calls gives EINTR; 0: none */
static unsigned calls;

static int interrupted(void)
{
	if (interrupts == 0 || ++calls % (interrupts + 1) != 0)
		return 0;
	errno = EINTR;
	return 1;
}

static int fake_open(const char *path, int flags)
{
	size_t i;

	MUST(flags & O_NONBLOCK && flags & O_NOCTTY && flags & O_CLOEXEC,
	     "%s might be waited for, or inherited", path);
	if (interrupted())
		return -1;
	for (i = 0; i < nfiles; i++)
		if (strncmp(path, ROOT, strlen(ROOT)) == 0 &&
		    strcmp(path + strlen(ROOT), files[i].path) == 0) {
			offset[i] = 0;
			files_open++;
			return FD + (int)i;
		}
	errno = ENOENT;
	return -1;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	size_t i = (size_t)(fd - FD), n = files[i].size - offset[i];

	MUST(size > 0, "a read of nothing looks like the end");
	if (interrupted())
		return -1;
	if (offset[i] >= fails) {
		errno = EIO;
		return -1;
	}
	n = n < size ? n : size;
	n = chunk == 0 || n < chunk ? n : chunk;
	n = n < fails - offset[i] ? n : fails - offset[i];
	/* All of it: what is asked for must be there. */
	memset(buf, '9', size);
	if (n)
		memcpy(buf, files[i].data + offset[i], n);
	offset[i] += n;
	return (ssize_t)n;
}

static int fake_close(int fd)
{
	(void)fd;
	files_open--;
	return 0;
}

#undef open
#undef read
#undef close
#define open(path, flags) fake_open(path, flags)
#define read(fd, buf, size) fake_read(fd, buf, size)
#define close(fd) fake_close(fd)
#include "../../src/system/textfile.c"
#undef open
#undef read
#undef close

/* How reads behave, by the input's first two bytes. */
__attribute__((unused)) static void files_behave(struct fuzz_bytes *b)
{
	static const size_t chunks[] = {0, 1, 2, 7, 64, 1000, 1023, 1024};
	uint8_t how = fuzz_byte(b);

	chunk = chunks[how & 7];
	interrupts = how >> 3 & 3;
	fails = how & 0x80 ? fuzz_byte(b) * (size_t)16 : SIZE_MAX;
	nfiles = 0;
	calls = 0;
}

/* Only whole lines can be read of a file that fails, when lines are asked for.
 */
__attribute__((unused)) static size_t files_lines(const char *data, size_t size)
{
	if (fails > size)
		return size;
	for (size = fails; size > 0 && data[size - 1] != '\n'; size--)
		;
	return size;
}

__attribute__((unused)) static void files_add(const char *path,
					      const char *data, size_t size)
{
	files[nfiles++] = (struct fuzz_file){path, data, size};
}

#endif
