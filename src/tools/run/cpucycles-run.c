/* SPDX-License-Identifier: 0BSD */
/* cpucycles-run: the core cycles that a command takes. */
#include <config.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cpucycles.h"
#include "estimate.h"
#include "../common/affinity.h"
#include "../common/stats.h"
#include "../common/tool.h"
#include "../../perf/pmus.h"

#define TOOL "cpucycles-run"
#define RUNS_MOST 1000000

/* Beside the command's own statuses, as env(1). */
enum { RUN_FAILED = 125, RUN_CANNOT, RUN_NONE };

/* One line here is one line of output. */
/* clang-format off */
static const char help[] =
	"Usage: cpucycles-run [OPTION]... COMMAND [ARG]...\n"
	"Runs a command, and prints on standard error how many core cycles it and its\n"
	"children took: counted, where there is a PMU that you may use, or estimated.\n"
	"\n"
	"      --json         print one JSON object, for programs\n"
	"  -o, --output=FILE  print to FILE instead\n"
	"  -r, --runs=N       run it N times; print medians, lowest and highest values\n"
	"  -h, --help         print this help and exit\n"
	"  -V, --version      print the version and exit\n"
	"\n"
	"Exit status: that of the command, of the last run that failed; 128 + N if signal\n"
	"N ended it; 127 if there is no such command, 126 if it cannot be run, 125 after\n"
	"wrong usage or if the output cannot be written.\n";
/* clang-format on */

/* A value for each run, sorted in the end; -1: unknown. */
enum { CYCLES, INSTRUCTIONS, USER, SYSTEM, WALL, ROWS };
static const char *const names[ROWS][2] = {
	{"cycles", "cycles_spread"},
	{"instructions", "instructions_spread"},
	{"user_seconds", "user_spread"},
	{"system_seconds", "system_spread"},
	{"wall_seconds", "wall_spread"}};
static long long *rows[ROWS]; /* from USER on, ns */

static sigset_t run_signals, run_mask; /* the command's; the caller's */
static struct affinity run_cpus;

/* Of all runs. */
static struct {
	int runs, status;
	bool last;          /* a signal came */
	bool counted, user; /* by a PMU, in user mode alone, */
	double share;       /* for this part of the time, at least */
	bool estimated;
} all = {.share = 1};

/* Perf events of what this process will start. */
struct events {
	int fd[CPUC_CORES], n;
};

static int events_one(const struct cpuc_event *event)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof attr);
	attr.size = sizeof attr;
	attr.type = event->type;
	attr.config = event->config;
	attr.disabled = attr.enable_on_exec = attr.inherit = 1;
	attr.exclude_kernel = attr.exclude_hv = all.user;
	attr.read_format =
		PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

/* One for each type of core, or none. */
static bool events_open(struct events *e, unsigned counts)
{
	struct cpuc_event event[CPUC_CORES];
	int n = (int)cpuc_core_pmus(event, counts);

	for (e->n = 0; e->n < n; e->n++)
		if ((e->fd[e->n] = events_one(&event[e->n])) < 0)
			break;
	while (e->n < n && e->n > 0)
		close(e->fd[--e->n]);
	return e->n > 0;
}

static long long events_close(struct events *e)
{
	uint64_t now[3], count = 0, enabled = 0, running = 0;
	double share;

	while (e->n-- > 0) {
		if (read(e->fd[e->n], now, sizeof now) == sizeof now) {
			count += now[0];
			enabled = now[1] > enabled ? now[1] : enabled;
			running += now[2];
		}
		close(e->fd[e->n]);
	}
	if (running == 0)
		return -1;
	share = running < enabled ? (double)running / (double)enabled : 1;
	all.share = share < all.share ? share : all.share;
	return (long long)((double)count / share);
}

/* Of cycles and instructions. A user who names a clock wants no event: a
 * sandbox may kill for one. */
static bool events_begin(struct events e[2])
{
	const char *named = getenv("cpucyclesimplementation");

	if (named != NULL && !strcmp(named, cpucycles_implementation()) &&
	    strcmp(cpucycles_kind(), "core") != 0)
		return false;
	while (!events_open(&e[CYCLES], PERF_COUNT_HW_CPU_CYCLES)) {
		if (all.user)
			return false;
		all.user = true;
	}
	events_open(&e[INSTRUCTIONS], PERF_COUNT_HW_INSTRUCTIONS);
	return true;
}

/* 0, or the exit status. */
static int run_start(char **argv, pid_t *pid)
{
	struct affinity cpus = run_cpus;
	posix_spawnattr_t attr;
	int err;

	affinity_end(&cpus);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &run_mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (err == 0)
		return 0;
	fprintf(stderr, TOOL ": cannot run '%s': %s\n", argv[0], strerror(err));
	return err == ENOENT ? RUN_NONE : RUN_CANNOT;
}

/* Waits for so many ns, for good if < 0, or for a signal. */
static void run_wait(pid_t pid, long long ns)
{
	const struct timespec t = {0, (long)ns};
	siginfo_t info;
	int sig = ns < 0 ? sigwaitinfo(&run_signals, &info)
			 : sigtimedwait(&run_signals, &info, &t);

	if (sig < 0 || sig == SIGCHLD)
		return;
	all.last |= sig != SIGUSR1 && sig != SIGUSR2;
	/* The terminal sends its own to the command, too. */
	if (info.si_code != SI_KERNEL)
		kill(pid, sig);
}

/* Adds the times of what has ended: the command, and processes whose parents
 * had ended. */
static bool run_ended(pid_t pid, long long now[ROWS], long *preemptions)
{
	bool ended = false;
	struct rusage u;
	int status;
	pid_t one;

	while ((one = wait4(-1, &status, WNOHANG, &u)) > 0) {
		now[USER] += u.ru_utime.tv_sec * 1000000000LL +
			     u.ru_utime.tv_usec * 1000LL;
		now[SYSTEM] += u.ru_stime.tv_sec * 1000000000LL +
			       u.ru_stime.tv_usec * 1000LL;
		*preemptions += u.ru_nivcsw;
		if (one != pid)
			continue;
		ended = true;
		all.last |= WIFSIGNALED(status);
		status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					     : WEXITSTATUS(status);
		all.status = status != 0 ? status : all.status;
	}
	return ended;
}

/* False: it was the last one. */
static bool run_once(char **argv)
{
	long long now[ROWS] = {-1, -1, 0, 0, 0};
	struct events e[2] = {{.n = 0}};
	long preemptions = 0;
	int i, status;
	pid_t pid;

	all.counted = events_begin(e);
	if (!all.counted && all.runs == 0)
		all.estimated = estimate_begin();
	now[WALL] = -tool_ns();
	status = run_start(argv, &pid);
	if (status != 0) {
		all.status = status;
		return false;
	}
	do
		run_wait(pid, all.estimated ? estimate_sample(pid) : -1);
	while (!run_ended(pid, now, &preemptions));
	now[WALL] += tool_ns();
	if (all.counted) {
		now[CYCLES] = events_close(&e[CYCLES]);
		now[INSTRUCTIONS] = events_close(&e[INSTRUCTIONS]);
	} else if (all.estimated) {
		now[CYCLES] = estimate_cycles(now[USER] + now[SYSTEM],
					      now[WALL], preemptions);
	}
	for (i = 0; i < ROWS; i++)
		rows[i][all.runs] = now[i];
	all.runs++;
	return !all.last;
}

static double print_median(int row)
{
	return (double)stats_quantile(rows[row], all.runs, 1, 2);
}

/* A line of text, or a member of the JSON object. < 0: unknown. */
static void print_number(FILE *f, bool json, const char *name, int digits,
			 double value)
{
	if (json && value < 0)
		fprintf(f, "\t\"%s\": null,\n", name);
	else if (value >= 0)
		fprintf(f, json ? "\t\"%s\": %.*f,\n" : "%-22s %.*f\n", name,
			digits, value);
}

static void print_how(FILE *f)
{
	struct cpucycles_counter c;

	if (all.counted) {
		fprintf(f, "counted by the PMU%s, %.0f%% of the time",
			all.user ? " in user mode" : "", all.share * 100);
		return;
	}
	if (all.estimated)
		fprintf(f,
			"estimated within %.1f%%, %s, at %.3f to %.3f GHz in "
			"%d samples; ",
			estimate.within * 100,
			estimate.load ? "beside load" : "on a quiet machine",
			estimate.low / 1e9, estimate.high / 1e9,
			estimate.samples);
	else
		fputs("not estimated: rates cannot be measured here; ", f);
	cpucycles_counterbyname("default-perfevent", &c, sizeof c);
	fprintf(f, "not counted: %s", tool_why(&c));
}

static void print_all(FILE *f, bool json)
{
	double value,
		cycles = print_median(CYCLES),
		ns = print_median(USER) + (all.user ? 0 : print_median(SYSTEM));
	int i;

	fputs(json ? "{\n" : "", f);
	for (i = 0; i < ROWS; i++) {
		value = print_median(i);
		print_number(f, json, names[i][0], i < USER ? 0 : 6,
			     i < USER ? value : value / 1e9);
		if (all.runs > 1 && value > 0)
			print_number(
				f, json, names[i][1], 4,
				(double)(rows[i][all.runs - 1] - rows[i][0]) /
					value);
	}
	value = print_median(INSTRUCTIONS);
	print_number(f, json, "instructions_per_cycle", 3,
		     value >= 0 && cycles > 0 ? value / cycles : -1);
	value = cycles >= 0 && ns > 0 ? cycles * 1e9 / ns : -1;
	print_number(f, json, "persecond", 0,
		     all.estimated ? estimate.hz : value);
	if (json)
		print_number(f, json, "within", 4,
			     all.estimated ? estimate.within : -1);
	fprintf(f, json ? "\t\"how\": \"" : "%-22s ", "how");
	print_how(f);
	fputs(json ? "\"\n}\n" : "\n", f);
}

static int run_all(char **argv, int runs, const char *file, bool json)
{
	FILE *f = file != NULL ? fopen(file, "we") : stderr;
	size_t i;

	for (i = 0; i < ROWS && f != NULL; i++)
		if (!(rows[i] = malloc((size_t)runs * sizeof *rows[i])))
			f = NULL;
	if (f != NULL) {
		while (run_once(argv) && all.runs < runs)
			;
		for (i = 0; i < ROWS; i++)
			stats_sort(rows[i], all.runs);
		if (all.runs > 0)
			print_all(f, json);
		if (fflush(f) == 0 && !ferror(f))
			return all.status;
	}
	fprintf(stderr, TOOL ": cannot write the output: %s\n",
		strerror(errno));
	return RUN_FAILED;
}

/* Signals that are not ignored, as by nohup(1), are taken in run_wait(). */
static void run_begin(void)
{
	static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT,
				     SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction now;
	size_t i;

	affinity_get(&run_cpus);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&run_signals);
	sigaddset(&run_signals, SIGCHLD);
	for (i = 0; i < sizeof passed / sizeof *passed; i++)
		if (sigaction(passed[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			sigaddset(&run_signals, passed[i]);
	sigprocmask(SIG_BLOCK, &run_signals, &run_mask);
	/* Or the CPU time of processes whose parents end first were lost. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"help", no_argument, NULL, 'h'},
		{"json", no_argument, NULL, 'j'},
		{"output", required_argument, NULL, 'o'},
		{"runs", required_argument, NULL, 'r'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	const char *file = NULL;
	int option, status;
	bool json = false;
	char *end = NULL;
	long runs = 1;

	tool_begin();
	while ((option = getopt_long(argc, argv, "+ho:r:V", options, NULL)) !=
	       -1) {
		status = tool_option(option, TOOL, help);
		if (status >= 0)
			return status == TOOL_GOOD ? status : RUN_FAILED;
		json |= option == 'j';
		file = option == 'o' ? optarg : file;
		if (option == 'r')
			runs = strtol(optarg, &end, 10);
	}
	if (runs < 1 || runs > RUNS_MOST || (end != NULL && *end != '\0')) {
		fprintf(stderr, TOOL ": runs are from 1 to %d\n", RUNS_MOST);
	} else if (optind == argc) {
		fputs(TOOL ": which command?\n", stderr);
	} else {
		run_begin();
		return run_all(argv + optind, (int)runs, file, json);
	}
	tool_usage(TOOL, NULL);
	return RUN_FAILED;
}
