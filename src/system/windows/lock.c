/* SPDX-License-Identifier: 0BSD */
/* lock.h for Windows, which has neither signals nor fork. An exception handler
 * of the application may count in the midst of a selection. */
#include <config.h>
#include <errno.h>
#include "../../thread/lock.h"
#include "api.h"

/* The kernel gives it to those who wait in the order in which they came. A slim
 * lock would go to whoever is running. */
static HANDLE lock_one;
static DWORD lock_holder; /* the thread's id; 0: none */

/* Made by the first thread that comes, and kept; NULL: no memory. */
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
