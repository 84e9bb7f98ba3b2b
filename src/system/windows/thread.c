/* SPDX-License-Identifier: 0BSD */
/* guard.h and marks.h for Windows: only its own faults interrupt a thread, and
 * no process inherits memory. No thread needs memory.h. */
#include <config.h>
#include "../../thread/guard.h"
#include "../../thread/marks.h"
#include "api.h"

static struct cpuc_process thread_process = {.mark = {1}};
struct cpuc_process *cpuc_process = &thread_process;
unsigned cpuc_process_generation;

CPUC_TLS bool cpuc_guard_inside;

bool cpuc_guard_enter(struct cpuc_guard *guard)
{
	if (cpuc_guard_inside)
		return false;
	guard->last_error = GetLastError();
	cpuc_guard_inside = true;
	CPUC_FENCE();
	return true;
}

void cpuc_guard_leave(const struct cpuc_guard *guard)
{
	CPUC_FENCE();
	cpuc_guard_inside = false;
	SetLastError(guard->last_error);
}

int cpuc_process_prepare(void)
{
	return 0;
}

const uint32_t *cpuc_process_mark_new(void)
{
	return cpuc_process->mark;
}
