/* SPDX-License-Identifier: 0BSD */
/* The settings that cpucycles-open changes, and its record of them:
 *
 *	# Written by cpucycles-open; cpucycles-open --revert removes this file.
 *	# /proc/sys/kernel/perf_event_paranoid 4 2
 *
 * and an empty line. PATH OLD NEW is on record before NEW is set. */
#ifndef OPEN_SETTINGS_H
#define OPEN_SETTINGS_H

#include <stdbool.h>
#include <stdio.h>

#define OPEN_SETTINGS 12

/* The conditions for a value, as bits. */
enum { OPEN_KERNEL_TOO = 1, OPEN_RDPMC_ALL = 2, OPEN_NO_NMI = 4 };

/* Of two with the same path, the more open one comes first. */
extern const struct open_setting {
	const char *path;
	const char *sysctl; /* its name for sysctl.d, or NULL */
	bool lower;         /* smaller values are more open */
	int value, when;    /* wanted always if `when` is 0 */
	const char *allows; /* its effect, for people */
} open_settings[OPEN_SETTINGS];

/* Without Sscofpmf, a RISC-V PMU counts in all modes at once. */
bool open_kernel_too(void);

/* Whether `now` is at least as open as setting i. */
bool open_enough(int i, int now);

/* Of each setting the value that this program replaced, or -1. */
void open_format(const int old[OPEN_SETTINGS], FILE *f);

/* Accepts only the output of open_format, so that a forged record can at worst
 * make one of the settings less open. Fills in what is on record. */
enum { OPEN_FOREIGN = 1 /* not our first line */, OPEN_DAMAGED };
int open_parse(int old[OPEN_SETTINGS], FILE *f);

#endif
