/* SPDX-License-Identifier: 0BSD */
/* How many system calls a thread's first count makes, and how many more its
 * end makes than that of a thread that does not count. */
#ifndef SYSTEMCALLS_H
#define SYSTEMCALLS_H

#include <pthread.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "cpucycles.h"

/* Not in the C library's headers for every architecture. */
#define GET_SYSCALL_INFO ((enum __ptrace_request)0x420e)

/* Marks are a system call that nobody makes. */
static void mark(void)
{
	syscall(SYS_getppid);
}

static void *marked_thread(void *counts)
{
	mark();
	if (counts)
		cpucycles();
	mark();
	return NULL;
}

static int traced(void)
{
	pthread_t id;
	int i;

	ptrace(PTRACE_TRACEME, 0, 0, 0);
	raise(SIGSTOP);
	cpucycles();
	for (i = 0; i < 2; i++) {
		mark();
		pthread_create(&id, NULL, marked_thread, i ? (void *)1 : NULL);
		pthread_join(id, NULL);
	}
	return 0;
}

/* calls[m]: by the thread that made mark m, after it; thread 1's marks are 1
 * and 2, thread 2's 4 and 5. */
static void trace(pid_t child, int calls[8])
{
	struct __ptrace_syscall_info info;
	pid_t pid, marker = 0;
	int status, marks = -1;

	waitpid(child, &status, 0);
	ptrace(PTRACE_SETOPTIONS, child, 0,
	       PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE);
	ptrace(PTRACE_SYSCALL, child, 0, 0);
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		int sig = 0;

		if (!WIFSTOPPED(status)) {
			if (pid == child)
				break;
			continue;
		}
		if (WSTOPSIG(status) == (SIGTRAP | 0x80) &&
		    ptrace(GET_SYSCALL_INFO, pid, sizeof info, &info) > 0 &&
		    info.op == PTRACE_SYSCALL_INFO_ENTRY) {
			if (info.entry.nr == SYS_getppid && marks < 7) {
				marks++;
				marker = pid;
			} else if (pid == marker && marks >= 0) {
				calls[marks]++;
			}
		} else if (WSTOPSIG(status) != (SIGTRAP | 0x80) &&
			   WSTOPSIG(status) != SIGSTOP &&
			   WSTOPSIG(status) != SIGTRAP) {
			sig = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, pid, 0, sig);
	}
}

static void check_system_calls(int pmus)
{
	int calls[8] = {0};
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(traced());
	trace(pid, calls);
	/* Two of each are the guard's, which blocks signals. */
	ok(calls[4] > 0 && calls[4] <= 4 + 3 * pmus,
	   "a thread's first count makes %d system calls, at most %d", calls[4],
	   4 + 3 * pmus);
	ok(calls[5] - calls[2] >= 0 && calls[5] - calls[2] <= 3 + pmus,
	   "its end makes %d, at most %d", calls[5] - calls[2], 3 + pmus);
}

#endif
