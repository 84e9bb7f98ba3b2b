/* SPDX-License-Identifier: 0BSD */
/* The cost of the first call: its time in fresh processes, for which this
 * program runs itself again, and its system calls. */
#include <config.h>
#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/ptrace.h>
#endif
#include "bench.h"

#define TABLE "first"
#define PROCESSES 51
#define TRACED 9 /* for their system calls */

/* In a fresh process. */
static int once(void)
{
	long long ns;

	bench_ns(); /* the vDSO's own first call is not ours */
	ns = -bench_ns();
	cpucycles();
	ns += bench_ns();
	return printf("%lld\n", ns) < 0;
}

static long long run(const char *program)
{
	char command[PATH_MAX + 10];
	long long ns;
	FILE *f;

	snprintf(command, sizeof command, "'%s' once", program);
	f = popen(command, "r");
	if (f == NULL || fscanf(f, "%lld", &ns) != 1)
		exit(1);
	pclose(f);
	return ns;
}

#ifdef __linux__
/* By default a process ignores this signal, but its tracer sees it. Not raise,
 * which makes more system calls. */
static void mark(void)
{
	kill(getpid(), SIGURG);
}

/* The system calls of a child between its first mark and its second; LONG_MAX:
 * unknown. A mark makes two system calls, and each stops twice. */
static long trace(void)
{
	int status, marks = 0, sig = 0;
	long stops = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
			raise(SIGSTOP);
		mark();
		cpucycles();
		mark();
		_exit(0);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD);
	while (ptrace(marks == 1 ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL,
		      (void *)(long)sig) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		stops += sig == (SIGTRAP | 0x80);
		marks += sig == SIGURG;
		/* A fault of the probe goes on to its handler. */
		if (sig == SIGURG || (sig & ~0x80) == SIGTRAP)
			sig = 0;
	}
	return marks == 2 ? stops / 2 - 2 : LONG_MAX;
}
#else
static long trace(void)
{
	return LONG_MAX;
}
#endif

int main(int argc, char **argv)
{
	static long long ns[PROCESSES];
	int i, n = bench_rounds(PROCESSES);
	long calls, least = LONG_MAX;

	if (argc > 1)
		return once();
	for (i = 0; i < n; i++)
		ns[i] = run(argv[0]);
	/* The fewest: on a busy host a first call measures again. */
	for (i = 0; i < TRACED; i++) {
		calls = trace();
		least = calls < least ? calls : least;
	}
	bench_value(TABLE, cpucycles_implementation(), "ms", "%.3f",
		    (double)stats_median(ns, n) / 1e6);
	if (least < LONG_MAX)
		bench_value(TABLE, cpucycles_implementation(), "system calls",
			    "%ld", least);
	return 0;
}
