/* SPDX-License-Identifier: 0BSD */
/* The lock names its holder's process, so a child of fork takes it over from a
 * holder that exists only in the parent, without pthread_atfork(). */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include "../system/probe.h"
#include "../system/syscalls.h"
#include "guard.h"
#include "lock.h"
#include "marks.h"

/* Shorter, and many that wait would leave the holder little of a slow CPU. */
#define LOCK_NAP_NS 1000000

/* The process of the thread that holds the lock or, with LOCK_FREE set, held it
 * last; 0: nobody has yet. A process is named by the address of its mark,
 * because a child in another pid namespace may have its parent's process id;
 * where there is no mark, by 4 * process id + 1. */
#define LOCK_FREE ((uintptr_t)2)
static uintptr_t lock_holder;

/* Whether somebody has found the lock held since it was last taken: who comes
 * then sleeps first, or a thread in a loop would keep it from the sleepers. */
static bool lock_wanted;

/* The process in which this thread holds the lock or waits for it. Set before
 * lock_holder, for SIGSYS handlers between the two. */
static CPUC_TLS volatile uintptr_t lock_inside;

static bool lock_is_here(uintptr_t process, int pid)
{
	process &= ~LOCK_FREE;
	if (process == 0 || process % 2 != 0)
		return process == (uintptr_t)pid * 4 + 1;
	return __atomic_load_n((const uint32_t *)process, __ATOMIC_RELAXED) ==
	       (uint32_t)pid;
}

static uintptr_t lock_process(int pid)
{
	const uint32_t *mark = NULL;

	if (__atomic_load_n(&cpuc_process, __ATOMIC_ACQUIRE) != NULL)
		mark = cpuc_process_mark();
	/* Old emulators do not wipe the marks. */
	return lock_is_here((uintptr_t)mark, pid) ? (uintptr_t)mark
						  : (uintptr_t)pid * 4 + 1;
}

/* Sleeps: a thread of real-time priority does not yield to others. */
static void lock_acquire(int pid, bool inside)
{
	bool waits = __atomic_load_n(&lock_wanted, __ATOMIC_RELAXED), here;
	uintptr_t found;

	for (;; waits = true) {
		if (waits)
			cpuc_sys_sleep(LOCK_NAP_NS);
		/* What the last holder did: paired with cpuc_unlock(). */
		found = __atomic_load_n(&lock_holder, __ATOMIC_ACQUIRE);
		/* In a child, the parent's holder is void. */
		here = lock_is_here(found, pid);
		if ((!here || found & LOCK_FREE) &&
		    __atomic_compare_exchange_n(
			    &lock_holder, &found, lock_process(pid), 0,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
		__atomic_store_n(&lock_wanted, true, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&lock_wanted, false, __ATOMIC_RELAXED);
	/* The parent's holder may have been probing. */
	if (!here)
		cpuc_probe_after_fork(inside);
}

int cpuc_lock(struct cpuc_caller *caller)
{
	const bool inside = lock_inside != 0;
	int pid = (int)getpid();
	sigset_t all;

	if (lock_is_here(lock_inside, pid))
		return -EDEADLK;
	*caller = (struct cpuc_caller){.err = errno};
	cpuc_sys_all(&all);
	/* By which sandboxes emulate denied system calls; blocked, it kills. */
	sigdelset(&all, SIGSYS);
	caller->blocked = cpuc_sys_mask(SIG_BLOCK, &all, &caller->mask);
	cpuc_cancel_off(&caller->cancel);
	lock_inside = lock_process(pid);
	/* A handler of SIGSYS that calls cpuc_lock() reads it: before the lock
	 * is taken, and, in cpuc_unlock(), until it is free. */
	CPUC_FENCE();
	lock_acquire(pid, inside);
	return 0;
}

static void lock_try_marks(void *unused)
{
	(void)unused;
	cpuc_process_prepare();
}

void cpuc_lock_prepare(void)
{
	cpuc_probe(lock_try_marks, NULL);
	__atomic_store_n(&lock_holder, lock_process((int)getpid()),
			 __ATOMIC_RELEASE);
}

void cpuc_unlock(struct cpuc_caller *caller)
{
	__atomic_fetch_or(&lock_holder, LOCK_FREE, __ATOMIC_RELEASE);
	CPUC_FENCE();
	lock_inside = 0;
	if (caller->blocked)
		cpuc_sys_mask(SIG_SETMASK, &caller->mask, NULL);
	/* A request that has waited comes now, with nothing blocked. */
	cpuc_cancel_on(&caller->cancel);
	errno = caller->err;
}
