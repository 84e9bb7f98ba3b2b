/* SPDX-License-Identifier: 0BSD */
/* The cost of the first call, in fresh processes.
 *
 * Arguments: how this program is run, which it does for each process. */
#include <config.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "subject.h"
#include "trace.h"

#define TABLE "first"
#define PROCESSES 51
#define TRACED 9 /* for their system calls */
#define RESULT 3 /* the descriptor that a process writes its time to */

/* In a fresh process. */
static int once(const char *library)
{
	struct subject s = subject_own;
	long long ns;

	if (library[0] != '\0' && !subject_load(&s, library))
		return 1;
	bench_ns(); /* the vDSO's own first call is not ours */
	trace_mark();
	ns = -bench_ns();
	(*s.count)();
	ns += bench_ns();
	trace_mark();
	return write(RESULT, &ns, sizeof ns) != sizeof ns;
}

/* A way to make the first call: the environment and the library. */
static struct way {
	char name[128];
	const char *counter; /* for cpucyclesimplementation, or NULL */
	const char *library; /* to be loaded, or "" */
	long long ns[PROCESSES];
} ways[4];
static int nways;

/* Runs one process, which tells its time. Returns its system calls. */
static long run(const struct way *w, char **argv, bool traced, long long *ns)
{
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
		setenv("BENCH_ONCE", w->library, 1);
		if (traced)
			trace_me();
		execvp(argv[1], argv + 1);
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

/* The fewest of some processes: on a busy host a first call measures again. */
static long traced_calls(const struct way *w, char **argv)
{
	long least = LONG_MAX, calls;
	long long ns;
	int i;

	for (i = 0; i < TRACED; i++) {
		calls = run(w, argv, true, &ns);
		least = calls < least ? calls : least;
	}
	return least;
}

static void print(struct way *w, int n, long system_calls)
{
	bench_value(TABLE, w->name, "ms", "%.3f",
		    (double)stats_median(w->ns, n) / 1e6);
	bench_value(TABLE, w->name, "90th percentile", "%.3f",
		    (double)stats_quantile(w->ns, n, 9, 10) / 1e6);
	if (system_calls >= 0)
		bench_value(TABLE, w->name, "system calls", "%ld",
			    system_calls);
}

static void add(const char *counter, const char *library, const char *name,
		const char *more)
{
	struct way *w = &ways[nways++];

	snprintf(w->name, sizeof w->name, "%s%s", name, more);
	w->counter = counter;
	w->library = library;
}

/* The libraries to compare. */
static void list(void)
{
	static struct cpucycles_counter c;
	char linked[100];
	const char *path;
	unsigned i;

	snprintf(linked, sizeof linked, "linked, %s",
		 cpucycles_implementation());
	add(NULL, "", linked, "");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && !strcmp(c.kind, "reference")) {
			snprintf(linked, sizeof linked, "linked, %s", c.name);
			add(c.name, "", linked, " asked for");
			break;
		}
	if ((path = getenv("BENCH_SHARED")) != NULL)
		add(NULL, path, "shared", "");
	if ((path = getenv("BENCH_PEER")) != NULL)
		add(NULL, path, "peer", "");
}

int main(int argc, char **argv)
{
	const char *library = getenv("BENCH_ONCE");
	int i, j, n = bench_rounds(PROCESSES);

	if (library != NULL)
		return once(library);
	if (argc < 2)
		return 2;
	list();
	for (i = 0; i < n; i++)
		for (j = 0; j < nways; j++)
			run(&ways[j], argv, false, &ways[j].ns[i]);
	for (j = 0; j < nways; j++)
		print(&ways[j], n, traced_calls(&ways[j], argv));
	return 0;
}
