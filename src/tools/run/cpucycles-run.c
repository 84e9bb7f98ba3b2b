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
#include "../common/json.h"
#include "../common/stats.h"
#include "../common/tool.h"
#include "../../perf/pmus.h"

#define RUNS_MOST 100000
#define WAIT 1000000000LL /* ns, where nothing is sampled */

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
	"  -r, --runs=N       run it N times; print medians and spreads. A file as\n"
	"                     standard input is read again in each run; of anything\n"
	"                     else a run gets what those before it have left\n"
	"  -h, --help         print this help and exit\n"
	"  -V, --version      print the version and exit\n"
	"\n"
	"Exit status: that of the command, of the last run that failed; 128 + N if signal\n"
	"N ended it; 127 if there is no such command, 126 if it cannot be run, 125 after\n"
	"wrong usage or if the output cannot be written.\n";
/* clang-format on */

/* A line of output each, with as many digits, of values in parts of a unit: one
 * a run, sorted in the end; < 0: unknown. */
enum { CYCLES, INSTRUCTIONS, RATIO, USER, SYSTEM, WALL, RATE, ROWS };
static const struct {
	const char *name;
	int digits;
	double unit;
} names[ROWS] = {{"cycles", 0, 1},
		 {"instructions", 0, 1},
		 {"instructions_per_cycle", 3, 1e6},
		 {"user_seconds", 6, 1e9},
		 {"system_seconds", 6, 1e9},
		 {"wall_seconds", 6, 1e9},
		 {"persecond", 0, 1}};
static long long rows[ROWS][RUNS_MOST];

static sigset_t run_signals, run_mask; /* the command's; the caller's */

/* Of all runs. */
static struct {
	int runs, status;
	bool json, last;      /* last: a signal came */
	bool counted, user;   /* by a PMU, in user mode alone, */
	double share;         /* for this part of the time, at least */
	bool estimated, load; /* beside others' load, once at least */
} all = {.share = 1};

/* Perf events of what this process will start, one for each type of core. */
struct events {
	int fd[CPUC_TYPES], n;
};

/* -1: nothing has counted. */
static long long events_close(struct events *e)
{
	uint64_t now[3], count = 0, enabled = 0, running = 0;
	double share;

	for (; e->n > 0; close(e->fd[e->n]))
		if (read(e->fd[--e->n], now, sizeof now) == sizeof now) {
			count += now[0];
			enabled = now[1] > enabled ? now[1] : enabled;
			running += now[2];
		}
	if (running == 0)
		return -1;
	share = running < enabled ? (double)running / (double)enabled : 1;
	all.share = share < all.share ? share : all.share;
	return (long long)((double)count / share);
}

static bool events_open(struct events *e, unsigned counts)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .disabled = 1,
				       .enable_on_exec = 1,
				       .inherit = 1,
				       .exclude_kernel = all.user,
				       .exclude_hv = all.user,
				       .read_format =
					       PERF_FORMAT_TOTAL_TIME_ENABLED |
					       PERF_FORMAT_TOTAL_TIME_RUNNING};
	struct cpuc_event event[CPUC_TYPES];
	int n = (int)cpuc_core_pmus(event, counts);

	for (e->n = 0; e->n < n; e->n++) {
		attr.type = event[e->n].type;
		attr.config = event[e->n].config;
		e->fd[e->n] = (int)syscall(SYS_perf_event_open, &attr, 0, -1,
					   -1, PERF_FLAG_FD_CLOEXEC);
		if (e->fd[e->n] < 0)
			break;
	}
	if (e->n < n)
		events_close(e);
	return e->n > 0;
}

/* Of cycles and instructions. */
static bool events_begin(struct events e[2])
{
	if (tool_without_events())
		return false;
	for (; !events_open(&e[CYCLES], PERF_COUNT_HW_CPU_CYCLES);
	     all.user = true)
		if (all.user)
			return false;
	events_open(&e[INSTRUCTIONS], PERF_COUNT_HW_INSTRUCTIONS);
	return true;
}

/* The words of a command behind those of a shell, which runs it if it is a
 * script without #!, as for execvp(3). */
static char **run_command(int n, char **words)
{
	static char sh[] = "/bin/sh", c[] = "-c", text[] = "exec \"$0\" \"$@\"";
	char **all_words = calloc((size_t)n + 4, sizeof *all_words);

	if (all_words == NULL)
		exit(tool_failed("%s", strerror(errno)));
	memcpy(all_words, (char *[]){sh, c, text}, 3 * sizeof *all_words);
	memcpy(all_words + 3, words, (size_t)n * sizeof *all_words);
	return all_words;
}

static bool run_start(char **argv, pid_t *pid)
{
	posix_spawnattr_t attr;
	int err;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &run_mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(pid, argv[3], NULL, &attr, argv + 3, environ);
	if (err == ENOEXEC)
		err = posix_spawn(pid, argv[0], NULL, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	if (err != 0) {
		tool_failed("cannot run '%s': %s", argv[3], strerror(err));
		all.status = err == ENOENT ? RUN_NONE : RUN_CANNOT;
	}
	return err == 0;
}

/* Waits for so many ns, or for a signal. */
static void run_wait(pid_t pid, long long ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000),
				   (long)(ns % 1000000000)};
	siginfo_t info;
	int sig = sigtimedwait(&run_signals, &info, &t);

	if (sig < 0 || sig == SIGCHLD)
		return;
	all.last |= sig != SIGUSR1 && sig != SIGUSR2;
	/* The terminal sends its own to the command, too. */
	if (info.si_code != SI_KERNEL)
		kill(pid, sig);
}

static long long run_ns(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

/* Adds the times of what has ended: the command, and processes whose parents
 * had ended. */
static bool run_ended(pid_t pid, long long now[ROWS])
{
	bool ended = false;
	struct rusage u;
	int status;
	pid_t one;

	while ((one = wait4(-1, &status, WNOHANG, &u)) > 0) {
		now[USER] += run_ns(u.ru_utime);
		now[SYSTEM] += run_ns(u.ru_stime);
		if (one != pid)
			continue;
		ended = true;
		all.last |= WIFSIGNALED(status);
		if (status != 0)
			all.status = WIFSIGNALED(status)
					     ? 128 + WTERMSIG(status)
					     : WEXITSTATUS(status);
	}
	return ended;
}

/* False: it was the last one. */
static bool run_once(char **argv)
{
	long long now[ROWS] = {-1, -1, -1, 0, 0, 0, -1}, ns;
	struct events e[2] = {{.n = 0}};
	pid_t pid;
	int i;

	all.counted = events_begin(e);
	if (!all.counted && all.runs == 0)
		all.estimated = estimate_begin();
	now[WALL] = -tool_ns();
	if (!run_start(argv, &pid))
		return false;
	do
		run_wait(pid, all.estimated ? estimate_sample(pid) : WAIT);
	while (!run_ended(pid, now));
	now[WALL] += tool_ns();
	now[CYCLES] = events_close(&e[CYCLES]);
	now[INSTRUCTIONS] = events_close(&e[INSTRUCTIONS]);
	ns = now[USER] + (all.counted && all.user ? 0 : now[SYSTEM]);
	if (all.estimated)
		now[CYCLES] = estimate_cycles(ns, now[WALL], &all.load);
	if (now[CYCLES] > 0 && ns > 0)
		now[RATE] = (long long)((double)now[CYCLES] * 1e9 / (double)ns);
	if (now[INSTRUCTIONS] >= 0 && now[CYCLES] > 0)
		now[RATIO] = (long long)((double)now[INSTRUCTIONS] * 1e6 /
					 (double)now[CYCLES]);
	for (i = 0; i < ROWS; i++)
		rows[i][all.runs] = now[i];
	all.runs++;
	return !all.last;
}

static void print_number(FILE *f, const char *name, int digits, double value)
{
	if (all.json)
		json_print(name, value < 0 ? "null" : "%.*f", digits, value);
	else if (value >= 0)
		fprintf(f, "%-30s %.*f\n", name, digits, value);
}

static void print_how(FILE *f)
{
	struct cpucycles_counter c;
	char text[512];

	cpucycles_counterbyname("default-perfevent", &c, sizeof c);
	if (all.counted)
		snprintf(text, sizeof text,
			 "counted by the PMU%s, %.0f%% of the time",
			 all.user ? " in user mode" : "", all.share * 100);
	else
		snprintf(text, sizeof text, "%s; not counted: %s",
			 !all.estimated
				 ? "not estimated: no rate can be measured"
			 : all.load ? "estimated, beside load"
				    : "estimated, on a quiet machine",
			 tool_why(&c));
	if (all.json)
		json_text("how", text);
	else
		fprintf(f, "%-30s %s\n", "how", text);
}

static void print_all(FILE *f)
{
	char name[40];
	double value;
	int i;

	json_begin(f);
	if (all.json)
		json_open(NULL, '{');
	for (i = 0; i < ROWS; i++) {
		value = (double)stats_median(rows[i], all.runs);
		print_number(f, names[i].name, names[i].digits,
			     value / names[i].unit);
		snprintf(name, sizeof name, "%s_spread", names[i].name);
		if (all.runs > 1)
			print_number(f, name, 4,
				     value > 0 && rows[i][0] >= 0
					     ? (double)(rows[i][all.runs - 1] -
							rows[i][0]) /
						       value
					     : -1);
	}
	print_how(f);
	if (all.json)
		json_close('}');
}

/* Signals that are not ignored, as by nohup(1), are taken in run_wait(). */
static void run_begin(void)
{
	static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT,
				     SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction now;
	size_t i;

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
	char *end = NULL, **command;
	off_t input = lseek(0, 0, SEEK_CUR);
	long runs = 1;
	int option;
	FILE *f;

	tool_begin("cpucycles-run", help, RUN_FAILED);
	while ((option = tool_option(argc, argv, "+ho:r:V", options)) != -1) {
		all.json |= option == 'j';
		file = option == 'o' ? optarg : file;
		if (option == 'r')
			runs = strtol(optarg, &end, 10);
	}
	if (runs < 1 || runs > RUNS_MOST || (end != NULL && *end != '\0') ||
	    optind == argc)
		return tool_usage("needs a command, and from 1 to %d runs",
				  RUNS_MOST);
	tool_note_not_taken(stderr, "cpucycles-run: ");
	command = run_command(argc - optind, argv + optind);
	f = file != NULL ? fopen(file, "we") : stderr;
	run_begin();
	while (f != NULL && run_once(command) && all.runs < runs)
		lseek(0, input, SEEK_SET);
	free(command);
	if (all.runs > 0)
		print_all(f);
	return tool_end(f, file, all.status);
}
