/* SPDX-License-Identifier: 0BSD */
/* One thread at a time in the engine, and nothing interrupts it.
 *
 * The lock names its holder's process. A child thus sees that the holder exists
 * only in the parent, and takes the lock over: neither pthread_atfork() nor
 * pthread_once() is needed. */
#include <config.h>
#ifndef _WIN32
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include "lock.h"
#include "probe.h"
#include "syscalls.h"
#include "thread.h"

#define YIELDS 100
#define NAP_NS 50000
#define NAP_NS_MAX 3000000

/* The holder's process; 0: free. By the address of its mark (thread.h), as a
 * child in another pid namespace may have its parent's process id. Where there
 * is no such mark, by 2 * process id + 1. */
static uintptr_t lock_holder;

static bool lock_prepared, lock_has_marks;

/* The process in which this thread holds the lock or waits for it. Set before
 * lock_holder: a SIGSYS handler between the two would wait for its own thread.
 */
static CPUC_OWN_DEFINE(volatile uintptr_t, lock_inside, 0);
#define lock_inside CPUC_OWN(lock_inside)

/* Whether `process` is this one; 0 is none. */
static bool lock_is_here(uintptr_t process, int pid)
{
	if (process == 0 || process % 2 != 0)
		return process == (uintptr_t)pid * 2 + 1;
	return __atomic_load_n((const uint32_t *)process, __ATOMIC_RELAXED) ==
	       (uint32_t)pid;
}

static uintptr_t lock_process(int pid)
{
	uintptr_t mark = 0;

	if (__atomic_load_n(&lock_has_marks, __ATOMIC_ACQUIRE))
		mark = (uintptr_t)cpuc_process_mark();
	/* Emulators do not wipe the marks, old ones at least. */
	return lock_is_here(mark, pid) ? mark : (uintptr_t)pid * 2 + 1;
}

static void lock_acquire(int pid)
{
	/* Yielding gives the CPU to the holder. If this thread has a real-time
	 * priority and the holder has none, only sleeping does; many threads
	 * that wake often would leave it little of a slow CPU. */
	long nap = NAP_NS;
	uintptr_t found;
	int tries = 0;

	for (;;) {
		found = __atomic_load_n(&lock_holder, __ATOMIC_ACQUIRE);
		if (!lock_is_here(found, pid) &&
		    __atomic_compare_exchange_n(
			    &lock_holder, &found, lock_process(pid), 0,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			/* The holder is in the parent. */
			if (found != 0)
				cpuc_probe_after_fork();
			return;
		}
		if (tries++ < YIELDS) {
			sched_yield();
			continue;
		}
		cpuc_sys_sleep(nap);
		if (nap < NAP_NS_MAX)
			nap *= 2;
	}
}

int cpuc_lock(struct cpuc_caller *caller)
{
	int pid = (int)getpid();
	sigset_t all;

	if (!cpuc_own_none() && lock_is_here(lock_inside, pid))
		return -EDEADLK;
	*caller = (struct cpuc_caller){.err = errno};
	sigfillset(&all);
	/* A sandbox may emulate denied system calls in a handler. With SIGSYS
	 * blocked they would kill the process. */
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &caller->mask);
	/* The type too: glibc before 2.37 checks only the type when it receives
	 * a request that was sent a moment before. */
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &caller->cancel_type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &caller->cancel_state);
	lock_inside = lock_process(pid);
	CPUC_FENCE();
	lock_acquire(pid);
	return 0;
}

static void lock_try_marks(void *done)
{
	*(bool *)done = cpuc_process_prepare() == 0;
}

void cpuc_lock_prepare(void)
{
	uintptr_t holder;
	bool done = false;

	if (lock_prepared)
		return;
	if (cpuc_probe(lock_try_marks, &done) != 0)
		done = false;
	__atomic_store_n(&lock_has_marks, done, __ATOMIC_RELEASE);
	/* The holder is 2 * process id + 1 so far. */
	holder = __atomic_load_n(&lock_holder, __ATOMIC_RELAXED);
	__atomic_store_n(&lock_holder, lock_process((int)(holder / 2)),
			 __ATOMIC_RELEASE);
	lock_prepared = true;
}

void cpuc_unlock(struct cpuc_caller *caller)
{
	__atomic_store_n(&lock_holder, 0, __ATOMIC_RELEASE);
	CPUC_FENCE();
	lock_inside = 0;
	pthread_setcancelstate(caller->cancel_state, NULL);
	pthread_setcanceltype(caller->cancel_type, NULL);
	pthread_sigmask(SIG_SETMASK, &caller->mask, NULL);
	errno = caller->err;
}

#endif
