/* SPDX-License-Identifier: 0BSD */
/* Starts a command, passes signals on to it, and takes its times. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "estimate.h"
#include "run.h"
#include "../common/tool.h"

#define WAIT 1000000000LL /* ns, where nothing is sampled */

static sigset_t command_signals; /* taken in command_wait() */
static sigset_t command_mask;    /* the caller's */

void command_begin(void)
{
	static const int passed[] = {SIGHUP,  SIGINT,  SIGQUIT,
				     SIGTERM, SIGUSR1, SIGUSR2};
	struct sigaction now;
	size_t i;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&command_signals);
	sigaddset(&command_signals, SIGCHLD);
	for (i = 0; i < sizeof passed / sizeof *passed; i++)
		if (sigaction(passed[i], NULL, &now) == 0 &&
		    now.sa_handler != SIG_IGN)
			sigaddset(&command_signals, passed[i]);
	sigprocmask(SIG_BLOCK, &command_signals, &command_mask);
	/* Or the CPU time of processes whose parents end first were lost. */
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

/* A shell runs what is a script without #!, as for execvp(3). */
void command_words(struct command *c, int n, char **words)
{
	static char sh[] = "/bin/sh", dash[] = "-c",
		    text[] = "exec \"$0\" \"$@\"";

	c->words = calloc((size_t)n + 4, sizeof *c->words);
	if (c->words == NULL)
		exit(tool_failed("%s", strerror(errno)));
	memcpy(c->words, (char *[]){sh, dash, text}, 3 * sizeof *c->words);
	memcpy(c->words + 3, words, (size_t)n * sizeof *c->words);
}

static bool command_start(char **words, pid_t *pid)
{
	posix_spawnattr_t attr;
	int err;

	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &command_mask);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	err = posix_spawnp(pid, words[3], NULL, &attr, words + 3, environ);
	if (err == ENOEXEC)
		err = posix_spawn(pid, words[0], NULL, &attr, words, environ);
	posix_spawnattr_destroy(&attr);
	if (err != 0) {
		tool_failed("cannot run '%s': %s", words[3], strerror(err));
		run.status = err == ENOENT ? RUN_NONE : RUN_CANNOT;
		run.last = true;
	}
	return err == 0;
}

/* Waits for so many ns, or for a signal. */
static void command_wait(pid_t pid, long long ns)
{
	const struct timespec t = {(time_t)(ns / 1000000000),
				   (long)(ns % 1000000000)};
	siginfo_t info;
	int sig = sigtimedwait(&command_signals, &info, &t);

	if (sig < 0 || sig == SIGCHLD)
		return;
	run.interrupted |= sig != SIGUSR1 && sig != SIGUSR2;
	/* The terminal sends its own to the command, too. */
	if (info.si_code != SI_KERNEL)
		kill(pid, sig);
}

static long long command_ns(struct timeval t)
{
	return t.tv_sec * 1000000000LL + t.tv_usec * 1000LL;
}

/* What has been waited for. */
struct ended {
	bool command;   /* has ended, with this status: */
	int status;     /* as a shell tells it */
	long preempted; /* so often */
};

/* Adds the times of what has ended: the command, and processes whose parents
 * had ended. */
static bool command_ended(pid_t pid, long long now[ROWS], struct ended *e)
{
	struct rusage u;
	int status;
	pid_t one;

	while ((one = wait4(-1, &status, WNOHANG, &u)) > 0) {
		now[USER] += command_ns(u.ru_utime);
		now[SYSTEM] += command_ns(u.ru_stime);
		e->preempted += u.ru_nivcsw;
		if (one != pid)
			continue;
		e->command = true;
		run.last |= WIFSIGNALED(status);
		e->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
						: WEXITSTATUS(status);
	}
	return e->command;
}

static void command_keep(struct command *c, const long long now[ROWS],
			 long long off)
{
	int i;

	for (i = 0; i < ROWS; i++)
		c->rows[i][c->runs] = now[i];
	c->off[c->runs++] = off;
}

void command_run(struct command *c, bool kept)
{
	static bool begun;
	long long now[ROWS] = {-1, -1, -1, 0, 0, 0, -1}, ns, off = -1;
	struct ended e = {false, 0, 0};
	pid_t pid;

	run.counted = events_begin();
	if (!run.counted && !begun)
		run.estimated = estimate_begin();
	begun = true;
	now[WALL] = -tool_ns();
	if (!command_start(c->words, &pid))
		return;
	do
		command_wait(pid, run.estimated ? estimate_sample(pid) : WAIT);
	while (!command_ended(pid, now, &e));
	now[WALL] += tool_ns();
	events_end(&now[CYCLES], &now[INSTRUCTIONS]);
	ns = now[USER] + (run.counted && run.user ? 0 : now[SYSTEM]);
	if (run.estimated)
		now[CYCLES] = estimate_cycles(ns, now[WALL], e.preempted, &off,
					      &run.load);
	if (now[CYCLES] > 0 && ns > 0)
		now[RATE] = (long long)((double)now[CYCLES] * NS / (double)ns);
	if (now[INSTRUCTIONS] >= 0 && now[CYCLES] > 0)
		now[RATIO] = (long long)((double)now[INSTRUCTIONS] *
					 RATIO_UNIT / (double)now[CYCLES]);
	if (e.status != 0)
		run.status = e.status;
	run.last |= run.interrupted;
	/* A command may end well by a signal that it expects. */
	if (kept && !(run.interrupted && e.status != 0))
		command_keep(c, now, off);
}
