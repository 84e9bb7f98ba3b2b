/* SPDX-License-Identifier: 0BSD */
/* Code that a signal handler interrupts after so many instructions, on x86-64
 * Linux. */
#ifndef SINGLE_STEPS_H
#define SINGLE_STEPS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define TRAP_FLAG 0x100

static volatile long steps; /* until the handler acts; 0: it does not */

/* In the handler of SIGTRAP: whether so many steps have been made. Otherwise
 * makes one more. */
static bool steps_made(void *context)
{
	greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];

	*flags &= ~TRAP_FLAG;
	if (steps > 1)
		*flags |= TRAP_FLAG;
	return steps != 0 && --steps == 0;
}

/* Whether this holds in a process that may die of it: emulators may not step,
 * or may step through the handler too, for ever. */
static bool steps_work(bool (*works)(void))
{
	const struct rlimit none = {0, 0};
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &none);
		_exit(!works());
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

#endif
