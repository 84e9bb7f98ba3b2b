/* SPDX-License-Identifier: 0BSD */
/* The cost of the first call, in fresh processes, and of its parts. The
 * linker's --wrap puts functions of this file between the library's steps, so
 * that the library itself is what users get.
 *
 * Arguments: how this program is run, which it does for each process. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "../../src/calibrated/count.h"
#include "../../src/rate/clock.h"
#include "../../src/rate/persecond.h"
#include "../../src/select.h"
#include "../../src/system/probe.h"
#include "bench.h"
#include "subject.h"
#include "trace.h"

#define TABLE "first"
#define PROCESSES 51
#define RESULT 3 /* the descriptor that a process writes its values to */

/* A process's values: nanoseconds of the parts, and their sum. */
enum value { OTHER, HANDLERS, FREQUENCY, PROBING, CALIBRATING, PARTS };
enum { ALL = PARTS, FAULTS, VALUES };

static const char *const parts_name[PARTS] = {
	[OTHER] = "lock, publishing",  [HANDLERS] = "fault handlers",
	[FREQUENCY] = "frequency",     [PROBING] = "asking, probing, measuring",
	[CALIBRATING] = "calibrating",
};

static long long value[VALUES], since;
static enum value part;

/* Time goes to the part that is entered, until it ends or enters another. */
static enum value enter(enum value next)
{
	long long now = bench_ns();
	enum value before = part;

	value[part] += now - since;
	value[ALL] += now - since;
	since = now;
	part = next;
	return before;
}

#define WRAP(of, type, name, parameters, arguments)    \
	type __real_##name parameters;                 \
	type __wrap_##name parameters;                 \
	type __wrap_##name parameters                  \
	{                                              \
		enum value before = enter(of);         \
		type result = __real_##name arguments; \
                                                       \
		enter(before);                         \
		return result;                         \
	}
#define WRAP_VOID(of, name)                    \
	void __real_##name(void);              \
	void __wrap_##name(void);              \
	void __wrap_##name(void)               \
	{                                      \
		enum value before = enter(of); \
                                               \
		__real_##name();               \
		enter(before);                 \
	}

WRAP_VOID(HANDLERS, cpuc_probe_begin)
WRAP_VOID(HANDLERS, cpuc_probe_end)
WRAP_VOID(PROBING, cpuc_os_clock_check)
WRAP(FREQUENCY, struct cpuc_persecond, cpuc_persecond,
     (const struct cpuc_slot *current), (current))
WRAP(PROBING, struct cpuc_slot *, cpuc_select,
     (struct cpuc_slot * slots, size_t n, const char *wanted),
     (slots, n, wanted))
WRAP(CALIBRATING, bool, cpuc_clock_scale,
     (struct cpuc_clock * c, uint64_t nominal_hz, struct cpuc_scale *scale),
     (c, nominal_hz, scale))
WRAP(CALIBRATING, int, cpuc_calibrate,
     (struct cpuc_clock * c, struct cpuc_refusal *refusal), (c, refusal))
WRAP(CALIBRATING, uint64_t, cpuc_count_slow, (uintptr_t armed, uint64_t d),
     (armed, d))

static long long faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_minflt;
}

/* In a fresh process. */
static int once(const char *library)
{
	struct subject s = subject_own;

	if (library[0] != '\0' && !subject_load(&s, library))
		return 1;
	bench_ns(); /* the vDSO's own first call is not ours */
	value[FAULTS] = -faults();
	trace_mark();
	since = bench_ns();
	(*s.count)();
	enter(OTHER);
	trace_mark();
	value[FAULTS] += faults();
	return write(RESULT, value, sizeof value) != sizeof value;
}

/* A way to make the first call: the environment and the library. */
static struct way {
	char name[128];
	const char *counter; /* for cpucyclesimplementation, or NULL */
	const char *library; /* to be loaded, or "" */
	long long value[VALUES][PROCESSES];
} ways[4];
static int nways;

static void become(const struct way *w, char **argv, int fd, bool traced)
{
	if (dup2(fd, RESULT) < 0)
		_exit(1);
	if (w->counter != NULL)
		setenv("cpucyclesimplementation", w->counter, 1);
	setenv("BENCH_ONCE", w->library, 1);
	if (traced)
		trace_me();
	execvp(argv[1], argv + 1);
	_exit(1);
}

/* Runs one process, which fills in `value`. Returns its system calls. */
static long run(const struct way *w, char **argv, bool traced)
{
	long system_calls = -1;
	int fd[2];
	pid_t pid;

	fflush(NULL);
	if (pipe(fd) != 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0)
		become(w, argv, fd[1], traced);
	close(fd[1]);
	if (traced)
		system_calls = trace_calls(pid);
	/* A library that cannot be loaded: the process has said why. */
	if (read(fd[0], value, sizeof value) != sizeof value)
		exit(1);
	close(fd[0]);
	if (!traced)
		waitpid(pid, NULL, 0);
	return system_calls;
}

static double ms(long long *ns, int n)
{
	return (double)stats_median(ns, n) / 1e6;
}

static void print(struct way *w, int n, long system_calls)
{
	int i;

	bench_value(TABLE, w->name, "ms", "%.3f", ms(w->value[ALL], n));
	bench_value(TABLE, w->name, "90th percentile", "%.3f",
		    (double)stats_quantile(w->value[ALL], n, 9, 10) / 1e6);
	if (system_calls >= 0)
		bench_value(TABLE, w->name, "system calls", "%ld",
			    system_calls);
	bench_value(TABLE, w->name, "page faults", "%lld",
		    stats_median(w->value[FAULTS], n));
	for (i = 0; i < PARTS && w->library[0] == '\0'; i++)
		bench_value("first-parts", w->name, parts_name[i], "%.3f",
			    ms(w->value[i], n));
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
	int i, j, k, n = bench_rounds(PROCESSES);

	if (library != NULL)
		return once(library);
	if (argc < 2)
		return 2;
	list();
	for (i = 0; i < n; i++)
		for (j = 0; j < nways; j++) {
			run(&ways[j], argv, false);
			for (k = 0; k < VALUES; k++)
				ways[j].value[k][i] = value[k];
		}
	for (j = 0; j < nways; j++)
		print(&ways[j], n, run(&ways[j], argv, true));
	return 0;
}
