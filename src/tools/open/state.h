/* SPDX-License-Identifier: 0BSD */
/* What cpucycles-open found before it changed it, as text. Every file that it
 * writes begins with such a text:
 *
 *	# Written by cpucycles-open; cpucycles-open --revert removes this file.
 *	# found /proc/sys/kernel/perf_event_paranoid 3
 *
 * which ends at an empty line or with the file. To sysctl.d and tmpfiles.d it
 * is a comment. */
#ifndef OPEN_STATE_H
#define OPEN_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include "settings.h"

/* More than any file of ours is long, in bytes. */
#define OPEN_TEXT_SIZE 4096

struct open_state {
	bool changed[OPEN_SETTINGS]; /* by us */
	int found[OPEN_SETTINGS];    /* what was there before, if changed */
};

/* The text is of a file that we wrote, going by its first line. */
bool open_state_ours(const char *text, size_t length);

/* Reads such a text, of any origin, into *state. 0, or -EINVAL if there is
 * anything in it that open_state_format would not have written: a setting that
 * is unknown or comes twice, a value that would not have been changed, half a
 * line. So the worst that a forged text can have restored is a setting of ours,
 * to a value that is less open. *state is then undefined. */
int open_state_parse(const char *text, size_t length, struct open_state *state);

/* Writes those settings whose paths begin with `prefix`, as text with a NUL.
 * Returns its length, without the NUL. */
size_t open_state_format(const struct open_state *state, const char *prefix,
			 char text[OPEN_TEXT_SIZE]);

/* Nothing is in it. */
bool open_state_empty(const struct open_state *state);

#endif
