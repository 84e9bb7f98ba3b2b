/* SPDX-License-Identifier: 0BSD */
/* What belongs to one thread: thread-local storage of the kind that costs one
 * instruction, and news of the thread's end and of its being a child. */
#ifndef CPUC_THREAD_H
#define CPUC_THREAD_H

#include <stdint.h>

/* configure decides CPUC_TLS_MODEL: initial-exec where the C library keeps
 * room for it in libraries that are loaded later, as glibc does; the compiler's
 * choice elsewhere. The library uses some 500 bytes of it. */
#ifdef CPUC_TLS_MODEL
#define CPUC_THREAD __thread __attribute__((tls_model(CPUC_TLS_MODEL)))
#else
#define CPUC_THREAD __thread
#endif

/* Gets ready for the other functions, under the engine's lock: 0 or -errno.
 * Nothing to do the second time. */
int cpuc_thread_prepare(void);

/* Has ended(state) called when this thread ends, once. No system call. False
 * when the system cannot. */
int cpuc_thread_watch(void (*ended)(void *state), void *state);

/* A word that is the process's id in this process and zero in every child that
 * has a memory of its own, whatever has become of its process id. (A child that
 * shares the memory, as vfork's does, sees what its parent sees.) `pid` is the
 * caller's, to be put there if there is no such word yet. */
const uint32_t *cpuc_process_word(uint32_t pid);

#endif
