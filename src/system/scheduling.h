/* SPDX-License-Identifier: 0BSD */
/* What the kernel tells of how it schedules the calling thread. */
#ifndef CPUC_SCHEDULING_H
#define CPUC_SCHEDULING_H

#include <stdbool.h>
#include <stdint.h>

/* The CPU that the calling thread is running on; where the system does not
 * tell, always the same number. */
uint32_t cpuc_thread_cpu(void);

/* How often a thread was switched out: since it began, or between two calls. */
struct cpuc_switches {
	uint32_t voluntary;   /* to wait */
	uint32_t involuntary; /* to let another thread run */
};

/* The calling thread's, so far. False: the system does not tell. Keeps errno.
 */
bool cpuc_thread_switches(struct cpuc_switches *n);

#endif
