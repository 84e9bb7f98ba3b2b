/* SPDX-License-Identifier: 0BSD */
/* The PMUs of this machine's cores, and the kernel's settings for them. */
#ifndef CPUC_PERF_PMUS_H
#define CPUC_PERF_PMUS_H

#include "event.h"

#define CPUC_PMUS "/sys/bus/event_source/devices/"

/* The most types of cores. No machine so far has more than four. */
#define CPUC_TYPES 8

/* The events of all types of cores for `counts`, PERF_COUNT_HW_...; returns
 * their number. 1: the generic event, for one type of core or where sysfs lists
 * no PMUs. 0: it does, and none is a core's. */
unsigned cpuc_core_pmus(struct cpuc_event events[CPUC_TYPES], unsigned counts);

/* Reads a file that holds one number. False if it does not. */
bool cpuc_setting(const char *path, long *number);

/* Reads the first of these files that exists, and returns its path; NULL: none.
 * The number is -1 if only root may read the file, as with x86's rdpmc. */
const char *cpuc_first_setting(const char *const path[2], long *number);

#endif
