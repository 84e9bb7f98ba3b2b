/* SPDX-License-Identifier: 0BSD */
/* One thread at a time in the engine, and nothing interrupts it. */
#ifndef CPUC_LOCK_H
#define CPUC_LOCK_H

#include <signal.h>
#include <stdbool.h>
#include "../system/syscalls.h"

/* The caller's state, kept while the lock is held. */
struct cpuc_caller {
#ifdef _WIN32
	unsigned long last_error; /* as errno */
#else
	sigset_t mask; /* if `blocked` */
	bool blocked;  /* the signals are, by cpuc_lock() */
	struct cpuc_cancel cancel;
#endif
	int err; /* errno */
};

/* Takes the engine's lock; threads that wait come before those that ask for it
 * again. Nothing in a probe or in the guard may take it. Until cpuc_unlock,
 * signals other than SIGSYS are blocked, or a handler that counts would wait
 * for its own thread; thread cancellation is off, and errno is saved. 0, or
 * -EDEADLK if this thread already holds the lock or waits for it, which happens
 * only in a handler of SIGSYS or of a fault in the engine. */
int cpuc_lock(struct cpuc_caller *caller);
void cpuc_unlock(struct cpuc_caller *caller);

/* From now on the lock recognises a child that has its parent's process id.
 * (One that was cloned before, while another thread held the lock, waits for
 * ever.) With the lock held and the probe open. */
void cpuc_lock_prepare(void);

#endif
