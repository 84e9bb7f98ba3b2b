/* SPDX-License-Identifier: 0BSD */
/* The cost of the first call, in fresh processes, and of its parts.
 *
 * Arguments: how this program is run, which it does for each process. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "parts.h"
#include "subject.h"
#include "syscalls.h"

#define TABLE "first"
#define TABLE_PARTS "first-parts"
#define PROCESSES 51
#define RESULT 3 /* the descriptor that a process writes its result to */

struct result {
	long long ns, faults, part[PARTS];
	char counter[64];
};

static struct result result;

static long long faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

/* A fresh process: library NULL is the linked one. */
static int once(const char *library)
{
	const char *(*implementation)(void) = cpucycles_implementation;
	struct subject s = subject_own;

	if (library != NULL) {
		if (!subject_load(&s, library))
			return 1;
		implementation = NULL;
	}
	bench_ns(); /* the vDSO's own first call is not ours */
	result.faults = faults();
	syscalls_mark();
	parts_begin();
	(*s.count)();
	result.ns = parts_end(result.part);
	syscalls_mark();
	result.faults = faults() - result.faults;
	if (implementation != NULL)
		strncat(result.counter, implementation(),
			sizeof result.counter - 1);
	return write(RESULT, &result, sizeof result) != sizeof result;
}

/* A way to make the first call: the environment and the library. */
struct way {
	char name[128];
	const char *counter; /* for cpucyclesimplementation, or NULL */
	const char *library; /* to be loaded, or NULL */
	long long ns[PROCESSES], faults[PROCESSES], part[PARTS][PROCESSES];
	int syscalls; /* -1: unknown */
};

static void become(const struct way *w, char **argv, int fd, bool traced)
{
	if (dup2(fd, RESULT) < 0)
		_exit(1);
	if (w->counter != NULL)
		setenv("cpucyclesimplementation", w->counter, 1);
	setenv("BENCH_ONCE", w->library ? w->library : "", 1);
	if (traced)
		syscalls_traced();
	execvp(argv[1], argv + 1);
	_exit(1);
}

/* Runs one process. 0, or -1. */
static int run(struct way *w, char **argv, struct result *r, bool traced)
{
	int fd[2], status;
	ssize_t got;
	pid_t pid;

	fflush(NULL);
	if (pipe(fd) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0)
		become(w, argv, fd[1], traced);
	close(fd[1]);
	if (traced)
		w->syscalls = syscalls_count(pid);
	got = read(fd[0], r, sizeof *r);
	close(fd[0]);
	if (!traced)
		waitpid(pid, &status, 0);
	return got == sizeof *r ? 0 : -1;
}

static void print(struct way *w, int n)
{
	double median = (double)bench_median(w->ns, n) / 1e6;

	bench_value(TABLE, w->name, "ms", "%.3f", median);
	bench_value(TABLE, w->name, "90th percentile", "%.3f",
		    (double)stats_quantile(w->ns, n, 9, 10) / 1e6);
	if (w->syscalls >= 0)
		bench_value(TABLE, w->name, "system calls", "%d", w->syscalls);
	bench_value(TABLE, w->name, "page faults", "%lld",
		    bench_median(w->faults, n));
}

static void print_parts(struct way *w, int n)
{
	int i;

	for (i = 0; i < PARTS; i++)
		bench_value(TABLE_PARTS, w->name, parts_name[i], "%.3f",
			    (double)bench_median(w->part[i], n) / 1e6);
}

static struct way ways[8];
static int nways;

static struct way *add(const char *name, const char *counter,
		       const char *library)
{
	struct way *w = &ways[nways++];

	strncat(w->name, name, sizeof w->name - 1);
	w->counter = counter;
	w->library = library;
	return w;
}

/* The libraries to compare, and the first process's description of itself. */
static void list(void)
{
	static struct cpucycles_counter c;
	char name[128];
	const char *path;
	unsigned i;

	snprintf(name, sizeof name, "linked, %s", cpucycles_implementation());
	add(name, NULL, NULL);
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && !strcmp(c.kind, "reference")) {
			snprintf(name, sizeof name, "linked, %s asked for",
				 c.name);
			add(name, c.name, NULL);
			break;
		}
	path = getenv("BENCH_SHARED");
	if (path != NULL && path[0] != '\0')
		add("shared", NULL, path);
	path = getenv("BENCH_PEER");
	if (path != NULL && path[0] != '\0')
		add("peer", NULL, path);
}

static void bench(struct way *w, char **argv, int i)
{
	struct result r;
	int j;

	if (run(w, argv, &r, false) != 0) {
		w->ns[i] = -1;
		return;
	}
	w->ns[i] = r.ns;
	w->faults[i] = r.faults;
	for (j = 0; j < PARTS; j++)
		w->part[j][i] = r.part[j];
}

int main(int argc, char **argv)
{
	const char *library = getenv("BENCH_ONCE");
	struct result ignored;
	int i, j, n = bench_rounds(PROCESSES);

	if (library != NULL)
		return once(library[0] ? library : NULL);
	if (argc < 2)
		return 2;
	list();
	bench_title(TABLE, "2. The first call, in fresh processes");
	bench_note(TABLE, "Medians of %d processes each, in turn", n);
	bench_title(TABLE_PARTS, "2. The parts of the first call, ms");
	bench_note(TABLE_PARTS,
		   "The library's steps as they are, with a look at the "
		   "clock before and after each");
	for (i = 0; i < n; i++) {
		bench_progress("the first call:", "");
		for (j = 0; j < nways; j++)
			bench(&ways[j], argv, i);
	}
	for (j = 0; j < nways; j++) {
		ways[j].syscalls = -1;
		run(&ways[j], argv, &ignored, true);
		print(&ways[j], n);
		if (ways[j].library == NULL)
			print_parts(&ways[j], n);
	}
	bench_progress("", "");
	return 0;
}
