/* SPDX-License-Identifier: 0BSD */
/* The settings that cpucycles-open opens, and what open means for each. */
#ifndef OPEN_SETTINGS_H
#define OPEN_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>

#define OPEN_SETTINGS 6

struct open_setting {
	const char *path;
	int value;  /* the one that is set; no more is needed */
	bool lower; /* smaller values are more open; else greater ones */
	bool intel; /* of use on Intel's CPUs only */
	const char *allows; /* what `value` means, for whom; one line */
};

/* Known by their place in this table, here and in struct open_state. */
extern const struct open_setting open_settings[OPEN_SETTINGS];

/* This value allows at least what the setting's own does. */
bool open_enough(const struct open_setting *setting, int value);

/* The decimal number that text[0..length) is, without sign unless negative,
 * and without leading zeros. 0, or -EINVAL when it is anything else. */
int open_number(const char *text, size_t length, int *value);

#endif
