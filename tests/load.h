/* SPDX-License-Identifier: 0BSD */
/* Load beside a test's counting code: rivals for its CPU and, on Linux, timers
 * that signal one thread. */
#ifndef LOAD_H
#define LOAD_H

#include "faults/faults.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include "tools/common/affinity.h"

static double load_seconds;

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
	struct cpucycles_counter c;

	load_seconds = live_seconds();
	patience += (int)load_seconds * 3;
	/* Not to disturb the child too often. */
	nap_ns = 5000000;
	if (!load_select())
		skip_all("no calibrated counter here");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	if (!c.per_thread)
		skip_all("%s does not count each thread alone", c.name);
	diag("%s, %g s for each scenario", c.name, load_seconds);
}

/* From now on the test runs on one CPU. Another one, or -1. */
__attribute__((unused)) static int load_elsewhere;

__attribute__((unused)) static void load_pin(void)
{
	int here = affinity_here();
	struct affinity all;

	affinity_get(&all);
	load_elsewhere = affinity_next(&all, -1);
	if (load_elsewhere == here)
		load_elsewhere = affinity_next(&all, here);
	affinity_pin(here);
}

/* Moves this process there. */
__attribute__((unused)) static void load_leave(void)
{
	if (load_elsewhere >= 0 && affinity_here() != load_elsewhere)
		affinity_pin(load_elsewhere);
}

/* How often this thread lost its CPU without a wait; 0 where the system does
 * not tell. */
__attribute__((unused)) static long load_taken(void)
{
	struct rusage u = {.ru_nivcsw = 0};

#ifdef RUSAGE_THREAD
	getrusage(RUSAGE_THREAD, &u);
#endif
	return u.ru_nivcsw;
}

#if HAVE_RSEQ
#include <sys/rseq.h>

/* The field of the thread's area that points to its critical section. */
static void *load_field(void)
{
	return (char *)__builtin_thread_pointer() + __rseq_offset +
	       offsetof(struct rseq, rseq_cs);
}

/* The thread is in a section of this program's from now on: an empty one would
 * be a copy's of this library. The kernel looks for the signature before the
 * address to which a section aborts. */
static void load_section(void)
{
	static const uint32_t signature[2] = {RSEQ_SIG};
	static struct rseq_cs section __attribute__((aligned(32)));
	const uint64_t address = (uintptr_t)&section;

	section.start_ip = (uintptr_t)load_field;
	section.post_commit_offset = 1;
	section.abort_ip = (uintptr_t)&signature[1];
	memcpy(load_field(), &address, sizeof address);
}
#endif

/* Whether the kernel tells of a thread's waits: a sleep clears the field. */
__attribute__((unused)) static bool load_tells_waits(void)
{
	uint64_t section = 1;

#if HAVE_RSEQ
	if (__rseq_size == 0)
		return false;
	load_section();
	usleep(1000);
	memcpy(&section, load_field(), sizeof section);
#endif
	return section == 0;
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

__attribute__((unused)) static void load_handler(int sig, void (*f)(int),
						 int flags)
{
	struct sigaction act = {.sa_handler = f, .sa_flags = flags};

	sigaction(sig, &act, NULL);
}
#endif

__attribute__((unused)) static void load_busy(void)
{
	__asm__ __volatile__("");
}

__attribute__((unused)) static void load_yield(void)
{
	sched_yield();
}

static volatile unsigned load_alarms;

/* A handler that counts every second time. */
__attribute__((unused)) static void load_on_alarm(int sig)
{
	(void)sig;
	load_alarms = load_alarms + 1;
	if (load_alarms % 2 == 0)
		cpucycles();
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

#endif
