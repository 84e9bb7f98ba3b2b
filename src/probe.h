/* SPDX-License-Identifier: 0BSD */
/* Runs code that may fault, and tells whether it did. */
#ifndef CPUC_PROBE_H
#define CPUC_PROBE_H

/* Installs the handlers for the fault signals (SIGILL, SIGFPE, SIGBUS,
 * SIGSEGV, SIGABRT, SIGSYS, SIGTRAP) and unblocks these in the calling
 * thread; cpuc_probe_end puts dispositions and mask back as they were, except
 * where the application has installed another handler meanwhile: that stays.
 * The engine's lock is held around a pair, so at most one is open in a
 * process; the thread that opened it may call cpuc_probe in between, also
 * nested. Faults of other threads, and signals from elsewhere, act as if
 * nobody probed. errno is kept. */
void cpuc_probe_begin(void);
void cpuc_probe_end(void);

/* Runs fn(arg) between cpuc_probe_begin and cpuc_probe_end. 0 when it
 * returned, otherwise the number of the signal that ended it; errno is then
 * as before. SIGSYS also when fn was not run: a handler could not be
 * installed, or this thread has no pair open. fn must hold nothing that is
 * lost when it ends halfway (a lock, memory). */
int cpuc_probe(void (*fn)(void *), void *arg);

/* In the child of a fork that caught another thread between begin and end:
 * puts the dispositions back. Harmless at any other time, and in the child of
 * the probing thread itself, which goes on there. */
void cpuc_probe_after_fork(void);

#endif
