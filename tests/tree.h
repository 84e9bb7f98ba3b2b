/* SPDX-License-Identifier: 0BSD */
/* Trees of files that look like a machine's. Call make_base() first. */
#ifndef TREE_H
#define TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"

static char base[40]; /* the directory that everything is made in */
static char root[64]; /* the fake tree in it; paths are in short buffers */

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_all(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void remove_base(void)
{
	remove_all(base);
}

__attribute__((noreturn)) static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* In the current directory; removed at the end of the program. */
static void make_base(const char *test)
{
	snprintf(base, sizeof(base), "%s.XXXXXX", test);
	if (!mkdtemp(base))
		skip_all("no directory: %s", strerror(errno));
	atexit(remove_base);
	strcat(strcpy(root, base), "/root");
}

/* root + path, the directories above it made; static storage. */
static const char *place(const char *path)
{
	static char full[2048];
	char *p = full + strlen(base) + 1;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (; (p = strchr(p, '/')) != NULL; p++) {
		*p = 0;
		if (mkdir(full, 0755) < 0 && errno != EEXIST)
			die(full);
		*p = '/';
	}
	return full;
}

static void put(const char *path, const void *text, size_t len)
{
	int fd = open(place(path), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0 || write(fd, text, len) != (ssize_t)len || close(fd) < 0)
		die(path);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

#endif
