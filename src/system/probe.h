/* SPDX-License-Identifier: 0BSD */
/* Runs code that may fault, and tells whether it did. */
#ifndef CPUC_PROBE_H
#define CPUC_PROBE_H

#include <signal.h>

/* Windows does not raise it. */
#ifndef SIGSYS
#define SIGSYS 12
#endif

/* cpuc_probe_begin installs handlers for the fault signals (SIGILL, SIGFPE,
 * SIGBUS, SIGSEGV, SIGSYS, SIGTRAP) and unblocks these in the calling thread.
 * cpuc_probe_end restores the dispositions and the mask; a handler that the
 * application has installed meanwhile stays. Call both under the engine's lock:
 * a process has one pair open at most. Only the thread that opened it may call
 * cpuc_probe in between, and not from within a probe. Other threads' faults and
 * signals that are sent take effect as if there were no probe; those that the
 * caller has blocked are pending after cpuc_probe_end. The lock keeps errno. */
void cpuc_probe_begin(void);
void cpuc_probe_end(void);

/* Runs fn(arg), between cpuc_probe_begin and cpuc_probe_end. 0 if it returned,
 * otherwise the signal that ended it. SIGSYS also if fn was not run, because a
 * handler could not be installed or this thread has no pair open. fn may be
 * left halfway, so it must not take a lock or allocate memory. */
int cpuc_probe(void (*fn)(void *), void *arg);

/* Restores the dispositions in a child that was forked while another thread
 * was between begin and end. Does nothing at any other time, and nothing in a
 * child of the probing thread itself, where the probe goes on. */
void cpuc_probe_after_fork(void);

#endif
