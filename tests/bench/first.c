/* SPDX-License-Identifier: 0BSD */
/* The cost of the first call, in fresh processes, for which this program runs
 * itself again. */
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
#define RESULT 3 /* the descriptor that a process writes its time to */

/* A way to make the first call. */
struct way {
	char name[100];
	const char *counter; /* for cpucyclesimplementation, or NULL */
	bool shared;
	long long ns[PROCESSES];
};

/* Without effect in a process that is not traced: by default a process ignores
 * this signal, but its tracer sees it. Not raise, which makes more system
 * calls.
 */
static void mark(void)
{
	kill(getpid(), SIGURG);
}

/* In a fresh process. */
static int once(bool shared)
{
	long long (**count)(void) = &cpucycles, ns;

	if (shared && !bench_shared("cpucycles", &count))
		return 1;
	bench_ns(); /* the vDSO's own first call is not ours */
	mark();
	ns = -bench_ns();
	(*count)();
	ns += bench_ns();
	mark();
	return write(RESULT, &ns, sizeof ns) != sizeof ns;
}

#ifdef PT_STEP /* glibc alone has it and its like as macros */
static void trace_me(void)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		raise(SIGSTOP);
}

/* The system calls of a child between its first mark and its second, or -1. It
 * has ended then. A mark makes two system calls, and each stops twice. */
static long trace_calls(pid_t pid)
{
	int status, marks = 0, sig = 0;
	long stops = 0;

	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)PTRACE_O_TRACESYSGOOD);
	while (ptrace(marks == 1 ? PT_SYSCALL : PT_CONTINUE, pid, NULL,
		      (void *)(long)sig) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		sig = WSTOPSIG(status);
		stops += sig == (SIGTRAP | 0x80);
		marks += sig == SIGURG;
		/* A fault of the probe goes on to its handler. */
		if (sig == SIGURG || (sig & ~0x80) == SIGTRAP)
			sig = 0;
	}
	return marks == 2 ? stops / 2 - 2 : -1;
}
#else
static void trace_me(void)
{
}

static long trace_calls(pid_t pid)
{
	waitpid(pid, NULL, 0);
	return -1;
}
#endif

/* Runs one process, which tells its time. Returns its system calls. */
static long run(const struct way *w, char *program, bool traced, long long *ns)
{
	char *argv[] = {program, NULL};
	long system_calls = -1;
	int fd[2];
	pid_t pid;

	fflush(NULL);
	if (pipe(fd) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		dup2(fd[1], RESULT);
		if (w->counter != NULL)
			setenv("cpucyclesimplementation", w->counter, 1);
		setenv("BENCH_ONCE", w->shared ? "shared" : "linked", 1);
		if (traced)
			trace_me();
		execv(program, argv);
		_exit(1);
	}
	close(fd[1]);
	if (traced)
		system_calls = trace_calls(pid);
	/* A library that cannot be loaded: the process has said why. */
	if (read(fd[0], ns, sizeof *ns) != sizeof *ns)
		exit(1);
	close(fd[0]);
	if (!traced)
		waitpid(pid, NULL, 0);
	return system_calls;
}

/* System calls are the fewest of some processes: on a busy host a first call
 * measures again. */
static void print(struct way *w, int n, char *program)
{
	long least = LONG_MAX, calls;
	long long ns;
	int i;

	for (i = 0; i < TRACED; i++) {
		calls = run(w, program, true, &ns);
		least = calls < least ? calls : least;
	}
	bench_value(TABLE, w->name, "ms", "%.3f",
		    (double)stats_median(w->ns, n) / 1e6);
	bench_value(TABLE, w->name, "90th percentile", "%.3f",
		    (double)stats_quantile(w->ns, n, 9, 10) / 1e6);
	if (least >= 0)
		bench_value(TABLE, w->name, "system calls", "%ld", least);
}

/* The counter that is chosen, and one that is asked for. Returns how many ways
 * there are. */
static int list(struct way *w)
{
	static struct cpucycles_counter c;
	int n = 1;
	unsigned i;

	snprintf(w[0].name, sizeof w->name, "linked, %s",
		 cpucycles_implementation());
	for (i = 0; n == 1 && cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && c.kind_id == CPUCYCLES_REFERENCE) {
			snprintf(w[n].name, sizeof w->name,
				 "linked, %s asked for", c.name);
			w[n++].counter = c.name;
		}
	if (getenv("BENCH_SHARED") != NULL)
		w[n++] = (struct way){.name = "shared", .shared = true};
	return n;
}

int main(int argc, char **argv)
{
	static struct way ways[3];
	const char *library = getenv("BENCH_ONCE");
	int i, j, n = bench_rounds(PROCESSES), count;

	(void)argc;
	if (library != NULL)
		return once(strcmp(library, "shared") == 0);
	count = list(ways);
	for (i = 0; i < n; i++)
		for (j = 0; j < count; j++)
			run(&ways[j], argv[0], false, &ways[j].ns[i]);
	for (j = 0; j < count; j++)
		print(&ways[j], n, argv[0]);
	return 0;
}
