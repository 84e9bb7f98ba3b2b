/* SPDX-License-Identifier: 0BSD */
/* The files that cpucycles-open reads and writes, all below a root directory.
 */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../../textfile.h"
#include "files.h"

#define PATH_SIZE 1100 /* textfile.c takes up to 1024 */

static int full_path(char full[PATH_SIZE], const char *root, const char *path,
		     const char *end)
{
	int n = snprintf(full, PATH_SIZE, "%s%s%s", root, path, end);

	return n < 0 || n >= PATH_SIZE ? -ENAMETOOLONG : 0;
}

bool open_cpu_is(const char *root, const char *key, const char *word)
{
	const size_t keys = strlen(key), words = strlen(word);
	struct cpuc_lines lines;
	const char *line;
	bool is = false;
	size_t length, i;

	/* The first CPU's lines; the others' say the same. */
	if (cpuc_lines_open(&lines, root, "/proc/cpuinfo", 16384) != 0)
		return false;
	while (!is && (line = cpuc_lines_next(&lines, &length)) != NULL)
		if (length >= keys && memcmp(line, key, keys) == 0)
			for (i = keys; i + words <= length && !is; i++)
				is = memcmp(line + i, word, words) == 0;
	cpuc_lines_close(&lines);
	return is;
}

int open_read_setting(const char *root, const struct open_setting *setting,
		      int *value)
{
	char text[32];
	ssize_t n = cpuc_read_file(root, setting->path, text, sizeof text);

	if (n == -ENOTDIR)
		return -ENOENT;
	if (n < 0)
		return (int)n;
	if (setting->intel && !open_cpu_is(root, "vendor_id", "GenuineIntel"))
		return -ENOENT;
	if (n > 0 && text[n - 1] == '\n')
		n--;
	return open_number(text, (size_t)n, value);
}

/* All of it with one write, as the kernel wants it for a setting. */
static int write_close(int fd, const char *text, size_t length)
{
	ssize_t n = write(fd, text, length);
	int err = 0;

	if (n < 0)
		err = -errno;
	else if ((size_t)n < length)
		err = -EIO;
	/* Or a crash could leave an empty file. Settings have no fsync. */
	fsync(fd);
	if (close(fd) != 0 && err == 0)
		err = -errno;
	return err;
}

int open_write_setting(const char *root, const struct open_setting *setting,
		       int value)
{
	char full[PATH_SIZE], text[16];
	int n = snprintf(text, sizeof text, "%d\n", value);
	int err = full_path(full, root, setting->path, "");
	int fd, now;

	if (err != 0)
		return err;
	fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return -errno;
	err = write_close(fd, text, (size_t)n);
	if (err != 0)
		return err;
	err = open_read_setting(root, setting, &now);
	return err == 0 && now != value ? -EIO : err;
}

int open_read_state(const char *root, const char *path,
		    struct open_state *state)
{
	char text[OPEN_TEXT_SIZE];
	ssize_t n = cpuc_read_file(root, path, text, sizeof text);

	*state = (struct open_state){0};
	if (n == -ENOTDIR)
		return -ENOENT;
	/* Longer than any of ours: look at how it begins. */
	if (n == -EFBIG)
		return open_state_ours(text, sizeof text) ? -EINVAL : -EPERM;
	if (n < 0)
		return (int)n;
	if (!open_state_ours(text, (size_t)n))
		return -EPERM;
	return open_state_parse(text, (size_t)n, state);
}

int open_replace(const char *root, const char *path, const char *text,
		 size_t length)
{
	char full[PATH_SIZE], temporary[PATH_SIZE];
	int fd, err = full_path(full, root, path, "");

	if (err == 0)
		err = full_path(temporary, root, path, ".new");
	if (err != 0)
		return err;
	unlink(temporary); /* of one that was killed */
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* --status is for every user, whatever root's umask is. */
	if (fchmod(fd, 0644) != 0)
		err = -errno;
	if (err == 0)
		err = write_close(fd, text, length);
	else
		close(fd);
	if (err == 0 && rename(temporary, full) != 0)
		err = -errno;
	if (err != 0)
		unlink(temporary);
	return err;
}

int open_remove(const char *root, const char *path)
{
	char full[PATH_SIZE];
	int err = full_path(full, root, path, "");

	if (err != 0)
		return err;
	return unlink(full) == 0 ? 0 : -errno;
}
