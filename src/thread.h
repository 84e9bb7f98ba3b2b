/* SPDX-License-Identifier: 0BSD */
/* Per-thread state: cheap thread-local storage, a call at a thread's end, and a
 * word that tells a forked child from its parent. */
#ifndef CPUC_THREAD_H
#define CPUC_THREAD_H

#include <stdint.h>

/* configure sets CPUC_TLS_MODEL: initial-exec, one instruction an access, where
 * the C library reserves room for libraries loaded by dlopen, as glibc does;
 * the compiler's choice elsewhere. The library uses about 500 bytes. */
#ifdef CPUC_TLS_MODEL
#define CPUC_THREAD __thread __attribute__((tls_model(CPUC_TLS_MODEL)))
#else
#define CPUC_THREAD __thread
#endif

/* Must succeed before the functions below are called. 0 or -errno. Call it
 * under the engine's lock; later calls do nothing. */
int cpuc_thread_prepare(void);

/* Arranges for ended(state) to be called once, when this thread ends. Makes no
 * system call. 0 or -errno. */
int cpuc_thread_watch(void (*ended)(void *state), void *state);

/* A word that holds the process id in this process, and zero in every child
 * with its own memory, even if its process id is the same (as in another pid
 * namespace). A child that shares the memory, as vfork's does, reads the
 * parent's word. `pid` is the caller's process id, stored if there is no word
 * yet. */
const uint32_t *cpuc_process_word(uint32_t pid);

#endif
