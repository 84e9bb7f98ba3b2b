/* SPDX-License-Identifier: 0BSD */
/* Counts instructions exactly, as a debugger would step through them. An
 * emulator would count them as well, but not run every counter. */
#include <config.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/ptrace.h>
#include <sys/syscall.h>
#endif
#include "steps.h"

/* glibc has no macro of the request itself. */
#ifdef PT_STEP

static pid_t self;

void steps_traced(void)
{
	self = getpid();
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

/* Not raise, which has many instructions. */
void steps_mark(void)
{
	syscall(SYS_kill, self, SIGSTOP);
}

/* Lets the child go on, by a step or until something happens: the signal that
 * stopped it, or -1. */
static int next(pid_t pid, int step, int sig)
{
	int status;

	if (step)
		status = (int)ptrace(PT_STEP, pid, NULL, (void *)(long)sig);
	else
		status = (int)ptrace(PTRACE_CONT, pid, NULL, (void *)(long)sig);
	if (status < 0 || waitpid(pid, &status, 0) < 0 || !WIFSTOPPED(status))
		return -1;
	return WSTOPSIG(status);
}

long steps_count(pid_t pid)
{
	static int begun;
	int status, sig = 0;
	long n = 0;

	if (!begun && waitpid(pid, &status, 0) < 0)
		return -1;
	if (!begun && !WIFSTOPPED(status))
		return -1;
	/* The probe's faults go on to its handlers. */
	while (begun && sig != SIGSTOP)
		if ((sig = next(pid, 0, sig)) < 0)
			return -1;
	begun = 1;
	while ((sig = next(pid, 1, 0)) == SIGTRAP)
		n++;
	return sig == SIGSTOP ? n : -1;
}

#else

void steps_traced(void)
{
}

void steps_mark(void)
{
}

long steps_count(pid_t pid)
{
	(void)pid;
	return -1;
}

#endif
