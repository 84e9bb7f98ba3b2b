/* SPDX-License-Identifier: 0BSD */
/* Memory of a thread's own, for what is too much for thread-local storage. */
#ifndef CPUC_MEMORY_H
#define CPUC_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Prepares for cpuc_thread_memory() and for marks: 0 or -errno. Under the lock;
 * later calls do nothing. */
int cpuc_thread_prepare(void);

/* Zeroed memory for the calling thread, which must not have any yet; NULL: none
 * to be had. When the thread exits, ended(memory, false) is called while other
 * destructors may still use the library, and ended(memory, true) before it is
 * unmapped. Async-signal-safe, unless the program has so many pthread keys that
 * the C library must allocate. */
void *cpuc_thread_memory(size_t size, void (*ended)(void *memory, bool last));

#endif
