/* SPDX-License-Identifier: 0BSD */
/* One thread at a time in the engine, and nothing interrupts it.
 *
 * The lock's word is its holder's process id. The child of a fork thus sees
 * that the holder exists only in the parent, and takes the lock over: neither
 * pthread_atfork() nor pthread_once() is needed. */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include "lock.h"
#include "probe.h"
#include "thread.h"

static int lock_holder; /* process id; 0: free */

/* The process in which this thread holds the lock or waits for it. Set before
 * lock_holder: a SIGSYS handler between the two would wait for its own thread.
 */
static CPUC_THREAD volatile int lock_inside;

static void lock_acquire(int pid)
{
	/* Yielding gives the CPU to the holder. If this thread has a real-time
	 * priority and the holder has none, only sleeping does. */
	const struct timespec nap = {0, 50000};
	int found, tries = 0;

	for (;;) {
		found = __atomic_load_n(&lock_holder, __ATOMIC_RELAXED);
		if (found != pid &&
		    __atomic_compare_exchange_n(&lock_holder, &found, pid, 0,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			/* The holder is in the parent. */
			if (found != 0)
				cpuc_probe_after_fork();
			return;
		}
		if (tries++ < 100)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
}

int cpuc_lock(struct cpuc_guard *guard)
{
	int pid = (int)getpid();
	sigset_t all;

	if (lock_inside == pid)
		return -EDEADLK;
	*guard = (struct cpuc_guard){.err = errno};
	sigfillset(&all);
	/* A sandbox may emulate denied system calls in a handler. With SIGSYS
	 * blocked they would kill the process. */
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &guard->mask);
	/* The type too: glibc before 2.37 checks only the type when it receives
	 * a request that was sent a moment before. */
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &guard->cancel_type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel_state);
	lock_inside = pid;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lock_acquire(pid);
	return 0;
}

void cpuc_unlock(struct cpuc_guard *guard)
{
	__atomic_store_n(&lock_holder, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	lock_inside = 0;
	pthread_setcancelstate(guard->cancel_state, NULL);
	pthread_setcanceltype(guard->cancel_type, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
	errno = guard->err;
}
