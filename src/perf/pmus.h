/* SPDX-License-Identifier: 0BSD */
/* The PMUs of this machine's cores, and the kernel's settings for them, in
 * sysfs and procfs. */
#ifndef CPUC_PERF_PMUS_H
#define CPUC_PERF_PMUS_H

#include "event.h"

#define CPUC_PMUS "/sys/bus/event_source/devices/"

/* Tests put a directory in front of all paths. */
#ifndef CPUC_SYS_ROOT
#define CPUC_SYS_ROOT ""
#endif

/* The most types of cores. No machine so far has more than four, and each costs
 * a thread's first call an event. */
#define CPUC_CORES 8

/* The events of all types of cores for `counts`, PERF_COUNT_HW_CPU_CYCLES or
 * PERF_COUNT_HW_INSTRUCTIONS; returns their number. If it is 1, that is the
 * generic event, also where sysfs does not list the PMUs; 0: it does, and none
 * is of cores. */
unsigned cpuc_core_pmus(struct cpuc_event events[CPUC_CORES], unsigned counts);

/* Reads a file that holds one number. False if it does not. */
bool cpuc_setting(const char *path, long *number);

/* Reads the first of these files that there is, and returns its path; NULL:
 * there is none. -1 in place of its number: only root may read it, as rdpmc on
 * x86. */
const char *cpuc_first_setting(const char *const path[2], long *number);

#endif
