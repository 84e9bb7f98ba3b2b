/* SPDX-License-Identifier: 0BSD */
/* One thread at a time in the engine, with nothing able to interrupt it. */
#ifndef CPUC_LOCK_H
#define CPUC_LOCK_H

#include <signal.h>

/* The caller's state while the lock is held. */
struct cpuc_guard {
	sigset_t mask;
	int cancel; /* state and */
	int type;   /* type of cancellation */
	int err;
};

/* Takes the engine's lock, with signals other than SIGSYS blocked, thread
 * cancellation off and errno saved until cpuc_unlock. Waits for another thread,
 * but not for one that a fork left behind in the parent. 0, or -EDEADLK when
 * this very thread holds it or waits for it, which only a handler of a fault in
 * the engine, or of SIGSYS, can come to see. */
int cpuc_lock(struct cpuc_guard *guard);
void cpuc_unlock(struct cpuc_guard *guard);

#endif
