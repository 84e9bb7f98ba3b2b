/* SPDX-License-Identifier: 0BSD */
/* A command's cycles where nothing counts them. */
#ifndef CPUC_TOOLS_ESTIMATE_H
#define CPUC_TOOLS_ESTIMATE_H

#include <stdbool.h>

/* First in a process. False: cores' rates cannot be measured here. */
bool estimate_begin(void);

/* Takes a sample on a CPU that the command runs on. Returns the ns until the
 * next time. */
long long estimate_sample(int pid);

/* Cycles of a command that took so many ns of CPU time and was preempted so
 * often, by the samples since the last call. *off: what that may be off by, in
 * 1e-6 of it. Sets `load` if others had a tenth of a CPU in that time. */
long long estimate_cycles(long long ns, long long wall, long preempted,
			  long long *off, bool *load);

#endif
