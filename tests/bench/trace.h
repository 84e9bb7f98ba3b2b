/* SPDX-License-Identifier: 0BSD */
/* Counts a child's instructions or system calls between two marks, exactly, as
 * a debugger would, by ptrace(2). An emulator would count instructions as well,
 * but not run every counter. */
#ifndef TRACE_H
#define TRACE_H

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/ptrace.h>
#endif

/* In the child; without effect in a process that is not traced. By default a
 * process ignores this signal, but its tracer sees it. Not raise, which makes
 * more system calls. */
static inline void trace_mark(void)
{
	kill(getpid(), SIGURG);
}

/* Below, glibc alone has PT_STEP and its like as macros. */

/* In the child: its parent will trace it, also when it becomes another program.
 */
static inline void trace_me(void)
{
#ifdef PT_STEP
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		raise(SIGSTOP);
#endif
}

/* In the parent, once, before the following. */
static inline void trace_begin(pid_t pid)
{
	waitpid(pid, NULL, 0);
#ifdef PT_STEP
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD);
#endif
}

enum trace { TRACE_NOTHING, TRACE_CALLS, TRACE_STEPS };

/* Lets the child run to its next mark; returns how often it stopped before: at
 * each instruction, or at the beginning and end of each system call, those of
 * the mark included. -1: the child has ended, or cannot be traced. */
static inline long trace_run(pid_t pid, enum trace stops)
{
#ifdef PT_STEP
	static const int request[] = {[TRACE_NOTHING] = PT_CONTINUE,
				      [TRACE_CALLS] = PT_SYSCALL,
				      [TRACE_STEPS] = PT_STEP};
	int status, sig = 0;
	long n = 0;

	for (;;) {
		if (ptrace(request[stops], pid, NULL, (void *)(long)sig) < 0 ||
		    waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
			return -1;
		sig = WSTOPSIG(status);
		if (sig == SIGURG)
			return n;
		/* A fault of the probe goes on to its handler. */
		if (sig == SIGTRAP || sig == (SIGTRAP | 0x80)) {
			sig = 0;
			n++;
		}
	}
#else
	(void)pid;
	(void)stops;
	return -1;
#endif
}

/* In the parent, in place of these: the system calls of the child between its
 * first mark and its second, or -1. The child has ended then. A mark makes two
 * system calls, and each stops twice. */
static inline long trace_calls(pid_t pid)
{
	long stops;

	trace_begin(pid);
	trace_run(pid, TRACE_NOTHING);
	stops = trace_run(pid, TRACE_CALLS);
	while (trace_run(pid, TRACE_NOTHING) >= 0)
		;
	return stops < 0 ? -1 : stops / 2 - 2;
}

#endif
