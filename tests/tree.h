/* SPDX-License-Identifier: 0BSD */
/* Trees of files that look like a machine's. Call make_base() first. */
#ifndef TREE_H
#define TREE_H

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"

static char base[1024]; /* the directory that everything is made in */
static char root[1024]; /* the fake tree in it */

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

/* A test runner that has lost its patience sends one of these. */
static void interrupted(int sig)
{
	remove_base();
	signal(sig, SIG_DFL);
	raise(sig);
}

__attribute__((noreturn)) static void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(1);
}

/* Removed at the end of the program, with all that is in it. */
static void make_base(const char *test)
{
	const char *tmp = getenv("TMPDIR");

	if (!tmp || !*tmp)
		tmp = "/tmp";
	if (strlen(tmp) > 300)
		skip_all("TMPDIR is too long for textfile.c's buffer");
	snprintf(base, sizeof(base), "%s/%s.XXXXXX", tmp, test);
	if (!mkdtemp(base))
		skip_all("no directory in %s: %s", tmp, strerror(errno));
	atexit(remove_base);
	signal(SIGALRM, interrupted);
	signal(SIGHUP, interrupted);
	signal(SIGINT, interrupted);
	signal(SIGTERM, interrupted);
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
