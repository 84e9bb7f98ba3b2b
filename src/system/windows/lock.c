/* SPDX-License-Identifier: 0BSD */
/* lock.h for Windows, where an exception handler may count in a selection. */
#include <config.h>
#include <errno.h>
#include "../../thread/lock.h"
#include "api.h"

/* A mutex: the kernel serves its waiters in order. A slim lock would go to
 * whichever thread is running. */
static HANDLE lock_one;
static DWORD lock_holder; /* the thread's id; 0: none */

/* The first thread creates it, and it stays; NULL: no memory. */
static HANDLE lock_mutex(void)
{
	HANDLE made, one = __atomic_load_n(&lock_one, __ATOMIC_ACQUIRE);

	if (one != NULL)
		return one;
	made = CreateMutexA(NULL, FALSE, NULL);
	if (__atomic_compare_exchange_n(&lock_one, &one, made, 0,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	if (made != NULL)
		CloseHandle(made);
	return one;
}

int cpuc_lock(struct cpuc_caller *caller)
{
	const DWORD self = GetCurrentThreadId();

	if (__atomic_load_n(&lock_holder, __ATOMIC_RELAXED) == self)
		return -EDEADLK;
	*caller = (struct cpuc_caller){GetLastError(), errno};
	while (lock_mutex() == NULL)
		Sleep(1);
	WaitForSingleObject(lock_one, INFINITE);
	__atomic_store_n(&lock_holder, self, __ATOMIC_RELAXED);
	return 0;
}

void cpuc_lock_prepare(void)
{
}

void cpuc_unlock(struct cpuc_caller *caller)
{
	__atomic_store_n(&lock_holder, 0, __ATOMIC_RELAXED);
	ReleaseMutex(lock_one);
	SetLastError(caller->last_error);
	errno = caller->err;
}
