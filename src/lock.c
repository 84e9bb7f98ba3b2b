/* SPDX-License-Identifier: 0BSD */
/* One thread at a time in the engine, with nothing able to interrupt it.
 *
 * The lock's word is the process id of its holder, so that the child of a fork
 * recognises a lock whose holder exists in the parent alone, and takes it
 * over: no fork handler is needed, nor any thread library's once. */
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

static int holder; /* process id; 0: free */

/* This thread holds it, in that process, or is about to: a handler of SIGSYS
 * that came between two words would wait for its own thread. */
static CPUC_THREAD volatile int inside;

static void acquire(int pid)
{
	/* Yielding hands the CPU to the holder; sleeping does so even when
	 * this thread has a real-time priority and the holder has not. */
	const struct timespec nap = {0, 50000};
	int found, tries = 0;

	for (;;) {
		found = 0;
		if (__atomic_compare_exchange_n(&holder, &found, pid, 0,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return;
		if (found != pid &&
		    __atomic_compare_exchange_n(&holder, &found, pid, 0,
						__ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
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

	if (inside == pid)
		return -EDEADLK;
	*guard = (struct cpuc_guard){.err = errno};
	sigfillset(&all);
	/* A sandbox's handler answers for system calls that are denied; with
	 * it blocked, they would end the process. */
	sigdelset(&all, SIGSYS);
	pthread_sigmask(SIG_BLOCK, &all, &guard->mask);
	/* The type too: glibc before 2.37 looks at nothing else when a request
	 * arrives that was sent a moment before. */
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &guard->type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard->cancel);
	inside = pid;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	acquire(pid);
	return 0;
}

void cpuc_unlock(struct cpuc_guard *guard)
{
	__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	inside = 0;
	pthread_setcancelstate(guard->cancel, NULL);
	pthread_setcanceltype(guard->type, NULL);
	pthread_sigmask(SIG_SETMASK, &guard->mask, NULL);
	errno = guard->err;
}
