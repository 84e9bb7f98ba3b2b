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
#include "lock.h"
#include "../system/probe.h"
#include "../system/syscalls.h"
#include "thread.h"

#define LOCK_NAP_NS 100000
#define LOCK_NAPS_MAX 30
#define LOCK_PATIENCE 50

/* The process of the thread that holds the lock or, with LOCK_FREE set, held it
 * last; 0: nobody has yet. A process is named by the address of its mark,
 * because a child in another pid namespace may have its parent's process id;
 * where there is no mark, by 4 * process id + 1. */
#define LOCK_FREE ((uintptr_t)2)
static uintptr_t lock_holder;

/* The next ticket, and the one whose turn it is. Without turns, a thread that
 * measures in a loop would keep the lock from those that sleep. Threads in the
 * queue may die: one that finds the lock free LOCK_PATIENCE times in a row goes
 * ahead of its turn. */
static unsigned lock_next, lock_turn;

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

/* Sleeps: a thread of real-time priority does not yield to others. The next in
 * the queue sleeps briefly, those behind it longer: if many woke often on a
 * slow CPU, the holder would hardly run. */
static void lock_pause(int ahead)
{
	long naps = 1;

	if (ahead > 1)
		naps = ahead > 5 ? LOCK_NAPS_MAX : (long)ahead * ahead;
	cpuc_sys_sleep(naps * LOCK_NAP_NS);
}

static unsigned lock_acquire(int pid)
{
	const unsigned mine =
		__atomic_fetch_add(&lock_next, 1, __ATOMIC_RELAXED);
	unsigned in_vain = 0;
	uintptr_t found;
	int ahead;
	bool here, turn;

	for (;;) {
		found = __atomic_load_n(&lock_holder, __ATOMIC_ACQUIRE);
		ahead = (int)(mine -
			      __atomic_load_n(&lock_turn, __ATOMIC_RELAXED));
		here = lock_is_here(found, pid);
		in_vain = found & LOCK_FREE ? in_vain + 1 : 0;
		turn = in_vain > 0 && (ahead <= 0 || in_vain > LOCK_PATIENCE);
		/* In a child, the parent's holder and queue are void. */
		if ((!here || turn) &&
		    __atomic_compare_exchange_n(
			    &lock_holder, &found, lock_process(pid), 0,
			    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			break;
		lock_pause(ahead);
	}
	/* The parent's holder may have been probing. */
	if (!here)
		cpuc_probe_after_fork();
	return mine;
}

int cpuc_lock(struct cpuc_caller *caller)
{
	int pid = (int)getpid();
	sigset_t all;

	if (lock_is_here(lock_inside, pid))
		return -EDEADLK;
	*caller = (struct cpuc_caller){.err = errno};
	sigfillset(&all);
	/* By which a sandbox may emulate denied system calls; blocked, it
	 * kills. */
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &caller->mask);
	cpuc_cancel_off(&caller->cancel);
	lock_inside = lock_process(pid);
	CPUC_FENCE();
	caller->ticket = lock_acquire(pid);
	return 0;
}

static void lock_try_marks(void *unused)
{
	(void)unused;
	cpuc_process_prepare();
}

void cpuc_lock_prepare(void)
{
	const uintptr_t holder =
		__atomic_load_n(&lock_holder, __ATOMIC_RELAXED);

	if (holder % 2 == 0)
		return;
	cpuc_probe(lock_try_marks, NULL);
	__atomic_store_n(&lock_holder, lock_process((int)(holder / 4)),
			 __ATOMIC_RELEASE);
}

void cpuc_unlock(struct cpuc_caller *caller)
{
	/* Never back: others may have gone ahead of this thread. */
	if ((int)(caller->ticket - lock_turn) >= 0)
		__atomic_store_n(&lock_turn, caller->ticket + 1,
				 __ATOMIC_RELAXED);
	__atomic_fetch_or(&lock_holder, LOCK_FREE, __ATOMIC_RELEASE);
	CPUC_FENCE();
	lock_inside = 0;
	cpuc_cancel_on(&caller->cancel);
	pthread_sigmask(SIG_SETMASK, &caller->mask, NULL);
	errno = caller->err;
}
