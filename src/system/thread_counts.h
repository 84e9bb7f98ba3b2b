/* SPDX-License-Identifier: 0BSD */
/* The kernel's own counts of a thread: cycles of its cores, of whatever type,
 * and instructions, user and kernel. macOS from 12.4 on tells a thread its own,
 * without privileges. */
#ifndef CPUC_THREAD_COUNTS_H
#define CPUC_THREAD_COUNTS_H

#include <stdint.h>

struct cpuc_thread_counts {
	uint64_t instructions, cycles; /* as the kernel stores them */
};

/* Finds the function that tells them, and calls it: NULL, or why it cannot be
 * used here, static storage. Under the lock. */
const char *cpuc_thread_counts_find(void);

/* The calling thread's, once found; zeros if it fails. Keeps errno. */
struct cpuc_thread_counts cpuc_thread_counts(void);

#endif
