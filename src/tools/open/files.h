/* SPDX-License-Identifier: 0BSD */
/* The files that cpucycles-open reads and writes, all below a root directory.
 * Functions return 0 or -errno unless something else is said. */
#ifndef OPEN_FILES_H
#define OPEN_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include "settings.h"
#include "state.h"

/* -ENOENT: not here, or of no use to this CPU. Another: not
 * readable, or not a number. */
int open_read_setting(const char *root, const struct open_setting *setting,
		      int *value);

/* -EIO when the setting is something else afterwards. */
int open_write_setting(const char *root, const struct open_setting *setting,
		       int value);

/* What a file of ours says. -ENOENT: there is none. -EPERM: it is not ours.
 * -EINVAL: it was, and is damaged. */
int open_read_state(const char *root, const char *path,
		    struct open_state *state);

/* Puts the text in place of the file, all or nothing. The directory must
 * exist. */
int open_replace(const char *root, const char *path, const char *text,
		 size_t length);

/* -ENOENT when it is not there. */
int open_remove(const char *root, const char *path);

/* /proc/cpuinfo has a line that begins with `key` and has `word` in it. */
bool open_cpu_is(const char *root, const char *key, const char *word);

#endif
