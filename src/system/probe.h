/* SPDX-License-Identifier: 0BSD */
/* Runs code that may fault, and tells whether it did. */
#ifndef CPUC_PROBE_H
#define CPUC_PROBE_H

#include <signal.h>
#include <stdbool.h>

/* Windows does not raise it. */
#ifndef SIGSYS
#define SIGSYS 12
#endif

/* The first installs handlers for SIGILL, SIGFPE, SIGBUS, SIGSEGV, SIGSYS and
 * SIGTRAP, and unblocks these; the second restores the dispositions, but for
 * those changed meanwhile, and the mask. Under the lock, which keeps errno.
 * Other threads' faults and sent signals take effect as without a probe; those
 * that the caller has blocked are pending afterwards. */
void cpuc_probe_begin(void);
void cpuc_probe_end(void);

/* Runs fn(arg), between the two and not in another probe. 0 if it returned, or
 * the signal that ended it; SIGSYS also if no handler could be installed, and
 * fn was not run. It may end halfway, so it must not take locks or memory. */
int cpuc_probe(void (*fn)(void *), void *arg);

/* Restores the dispositions in a child that was forked during another thread's
 * probe. In the probing thread's own, `inside` the lock, the probe goes on. */
void cpuc_probe_after_fork(bool inside);

#endif
