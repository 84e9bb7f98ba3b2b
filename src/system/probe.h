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
 * application has installed meanwhile stays. Both under the engine's lock,
 * which keeps errno. Other threads' faults and signals that are sent take
 * effect as if there were no probe; those that the caller has blocked are
 * pending after cpuc_probe_end. */
void cpuc_probe_begin(void);
void cpuc_probe_end(void);

/* Runs fn(arg), between the two and not in another probe. 0 if it returned,
 * otherwise the signal that ended it; SIGSYS also if a handler could not be
 * installed, and fn was not run. fn may be left halfway, so it must not take a
 * lock or allocate memory. */
int cpuc_probe(void (*fn)(void *), void *arg);

/* Restores the dispositions in a child that was forked while another thread was
 * between begin and end. In the probing thread's own child it goes on. */
void cpuc_probe_after_fork(void);

#endif
