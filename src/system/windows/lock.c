/* SPDX-License-Identifier: 0BSD */
/* lock.h for Windows, which has neither signals nor fork. An exception handler
 * of the application may count in the midst of a selection. */
#include <config.h>
#ifdef _WIN32
#include <errno.h>
#include "../lock.h"
#include "api.h"

static SRWLOCK lock_one = SRWLOCK_INIT;
static DWORD lock_holder; /* the thread's id; 0: none */

int cpuc_lock(struct cpuc_caller *caller)
{
	const DWORD self = GetCurrentThreadId();

	if (__atomic_load_n(&lock_holder, __ATOMIC_RELAXED) == self)
		return -EDEADLK;
	*caller = (struct cpuc_caller){GetLastError(), errno};
	AcquireSRWLockExclusive(&lock_one);
	__atomic_store_n(&lock_holder, self, __ATOMIC_RELAXED);
	return 0;
}

void cpuc_lock_prepare(void)
{
}

void cpuc_unlock(struct cpuc_caller *caller)
{
	__atomic_store_n(&lock_holder, 0, __ATOMIC_RELAXED);
	ReleaseSRWLockExclusive(&lock_one);
	SetLastError(caller->last_error);
	errno = caller->err;
}

#endif
