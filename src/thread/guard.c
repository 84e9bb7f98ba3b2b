/* SPDX-License-Identifier: 0BSD */
/* The guard blocks signals; a flag tells the handlers that it cannot block. */
#include <config.h>
#include "../system/syscalls.h"
#include "guard.h"

CPUC_TLS bool cpuc_guard_inside;

bool cpuc_guard_enter(struct cpuc_guard *guard)
{
	static const int open[] = {SIGILL,  SIGFPE, SIGBUS,
				   SIGSEGV, SIGSYS, SIGTRAP};
	sigset_t most;
	unsigned i;

	cpuc_sys_all(&most);
	for (i = 0; i < sizeof open / sizeof *open; i++)
		sigdelset(&most, open[i]);
	guard->blocked = cpuc_sys_mask(SIG_BLOCK, &most, &guard->mask);
	if (cpuc_guard_inside) {
		if (guard->blocked)
			cpuc_sys_mask(SIG_SETMASK, &guard->mask, NULL);
		return false;
	}
	cpuc_guard_inside = true;
	/* A fault's handler that finds the flag unset finds nothing changed;
	 * the fence in leave is for the same. */
	CPUC_FENCE();
	return true;
}

void cpuc_guard_leave(const struct cpuc_guard *guard)
{
	CPUC_FENCE();
	cpuc_guard_inside = false;
	if (guard->blocked)
		cpuc_sys_mask(SIG_SETMASK, &guard->mask, NULL);
}
