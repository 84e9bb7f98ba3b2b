/* SPDX-License-Identifier: 0BSD */
/* Load beside a test's counting code: rivals for its CPU, a process of
 * its own for each scenario, and, on Linux, timers that signal one thread. */
#ifndef LOAD_H
#define LOAD_H

#include "faults/faults.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/resource.h>
#include "tools/common/affinity.h"

/* How long a scenario lasts that comes about as late as it can, on a machine
 * that is overloaded, in seconds; then it is killed, or has not happened. */
#define LOAD_LATE 30
#define LOAD_KILL 90

static double load_seconds = 0.3;

/* Selects a calibrated counter: under a sanitizer a clock may be selected, as
 * calls take longer. False: there is none. */
__attribute__((unused)) static bool load_select(void)
{
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && c.kind_id == CPUCYCLES_CALIBRATED)
			return cpucycles_select(c.name) == 0;
	return false;
}

/* Selects a calibrated counter, or skips all tests. */
__attribute__((unused)) static void load_begin(void)
{
	const char *text = getenv("LIVE_SECONDS");
	struct cpucycles_counter c;

	if (text != NULL && atof(text) > 0)
		load_seconds = atof(text);
	if (!load_select())
		skip_all("no calibrated counter here");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	if (!c.per_thread)
		skip_all("%s does not count each thread alone", c.name);
	diag("%s, %g s for each scenario", c.name, load_seconds);
}

#ifdef __linux__
#include <sys/syscall.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Signals the calling thread alone, from now on; returns false if it cannot. */
__attribute__((unused)) static bool load_timer(timer_t *timer, int sig,
					       long every_ns)
{
	struct itimerspec every = {{0, every_ns}, {0, every_ns}};
	struct sigevent event;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = sig;
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	return timer_create(CLOCK_MONOTONIC, &event, timer) == 0 &&
	       timer_settime(*timer, 0, &every, NULL) == 0;
}

/* Safe in a handler. */
__attribute__((unused)) static void load_timer_stop(timer_t timer)
{
	struct itimerspec never = {{0, 0}, {0, 0}};

	timer_settime(timer, 0, &never, NULL);
}

__attribute__((unused)) static void load_handler(int sig, void (*f)(int),
						 int flags)
{
	struct sigaction act;

	memset(&act, 0, sizeof act);
	act.sa_handler = f;
	act.sa_flags = flags;
	sigaction(sig, &act, NULL);
}

/* Has this thread run where it is, and nowhere else. */
__attribute__((unused)) static void load_pin(void)
{
	affinity_pin(affinity_here());
}
#endif

__attribute__((unused)) static void load_busy(void)
{
	__asm__ __volatile__("");
}

/* A process that does nothing but act(), on the CPUs of its parent, and ends
 * with it. */
__attribute__((unused)) static pid_t load_rival(void (*act)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
#ifdef PR_SET_PDEATHSIG
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
		for (;;)
			act();
	}
	return pid;
}

__attribute__((unused)) static void load_rival_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Runs f in a process of its own, and calls meanwhile() again and again until
 * that ends or is killed. Returns as in_child() does, whose limit of time does
 * not grow with LIVE_SECONDS. */
__attribute__((unused)) static int load_apart(int (*f)(void),
					      void (*meanwhile)(pid_t))
{
	const struct timespec nap = {0, 5000000};
	double end = wall_ns() + (load_seconds * 3 + LOAD_KILL) * 1e9;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
#ifdef PR_SET_PDEATHSIG
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
		_exit(f());
	}
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		if (wall_ns() > end)
			kill(pid, SIGKILL);
		if (meanwhile != NULL)
			meanwhile(pid);
		nanosleep(&nap, NULL);
	}
	return WIFSIGNALED(status) ? KILLED + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

#endif
