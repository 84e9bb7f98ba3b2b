/* SPDX-License-Identifier: 0BSD */
/* A command's cycles where nothing counts them. */
#ifndef CPUC_TOOLS_ESTIMATE_H
#define CPUC_TOOLS_ESTIMATE_H

#include <stdbool.h>

/* Of all estimates. */
struct estimate {
	double low, high, hz; /* the mean of the latest command */
	int samples;
	bool load;     /* others had a tenth of a CPU, or took one often */
	double within; /* part by which cycles may be off */
};
extern struct estimate estimate;

/* First in a process. False: cores' rates cannot be measured here. */
bool estimate_begin(void);

/* Samples the rate of a CPU that the command runs on, and stays there. Returns
 * the ns until the next time, less than a second. */
long long estimate_sample(int pid);

/* Cycles of a command that took so many ns of CPU time, by the samples since
 * the last call. */
long long estimate_cycles(long long ns, long long wall, long preemptions);

#endif
