/* SPDX-License-Identifier: 0BSD */
/* For tests that make something fail before the first call: a child for each
 * fault, what it saw, and filters of system calls. */
#ifndef FAULTS_H
#define FAULTS_H

#include <config.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef HAVE_LINUX_FILTER_H
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include "cpucycles.h"
#include "../tap.h"

/* What a child ends with, other than 0 for good and small numbers that say
 * what was wrong. */
#define CANNOT 55   /* the fault cannot be made here */
#define KILLED 1000 /* plus the signal */

/* What a process found, where its parent can read it. */
struct seen {
	char name[64], kind[16];
	long long hz;
	struct {
		char name[64];
		int usable;
		char reason[160];
	} counter[32];
	unsigned counters;
};

/* Runs f in a child, which is killed if it is in a deadlock: alarm could be
 * blocked, or in use. */
__attribute__((unused)) static int in_child(int (*f)(void *), void *arg)
{
	const struct timespec nap = {0, 500000};
	const struct rlimit none = {0, 0};
	/* Seconds: an emulator is slow, and a child's child must be killed by
	 * the child. */
	static int patience = 60;
	time_t end = time(NULL) + patience;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		patience /= 2;
		setrlimit(RLIMIT_CORE, &none);
		_exit(f(arg));
	}
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		if (time(NULL) > end)
			kill(pid, SIGKILL);
		nanosleep(&nap, NULL);
	}
	return WIFSIGNALED(status) ? KILLED + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

/* One point: that f is good in a child, unless it cannot be made there. */
__attribute__((unused)) static void point(const char *text, int (*f)(void *),
					  void *arg, const char *why_not)
{
	int status = in_child(f, arg);

	if (status == CANNOT)
		skip("%s: %s", text, why_not);
	else
		ok(status == 0, "%s (%d)", text, status);
}

/* 0 if the count never goes back over so many calls, and advances. */
__attribute__((unused)) static int counts(int calls)
{
	long long first = cpucycles(), last = first, now;

	while (calls-- > 0) {
		now = cpucycles();
		if (now < last)
			return 2;
		last = now;
	}
	/* Clocks of microseconds, or slower ones under an emulator. */
	for (calls = 0; calls < 1000000 && last == first; calls++)
		last = cpucycles();
	return last > first ? 0 : 3;
}

__attribute__((unused)) static void look(struct seen *s)
{
	struct cpucycles_counter c;
	unsigned i;

	strcpy(s->name, cpucycles_implementation());
	strcpy(s->kind, cpucycles_kind());
	s->hz = cpucycles_persecond();
	for (i = 0; i < 32 && cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		strcpy(s->counter[i].name, c.name);
		s->counter[i].usable = c.usable;
		strcpy(s->counter[i].reason, c.reason);
	}
	s->counters = i;
}

/* Memory that children write and their parent reads. */
__attribute__((unused)) static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		skip_all("no memory that is shared");
	return p;
}

#ifdef HAVE_LINUX_FILTER_H
/* From now on a system call meets this action of <linux/seccomp.h>, also in
 * programs that are executed. -1 where filters cannot be installed, as under
 * user emulation. */
__attribute__((unused)) static int deny(long number, unsigned action)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, action),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof rules / sizeof *rules, rules};

	/* Where prctl itself was denied before, one has been set. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* Calls and actions, by the names that a command line has. A call has a second
 * number where a host has an older one for the same; -1: none. */
static const struct denied_call {
	const char *name;
	long number, older;
} denied_calls[] = {
#ifdef SYS_open
#define OLD_OPEN SYS_open
#else
#define OLD_OPEN -1
#endif
#ifdef SYS_mmap2
#define NEW_MMAP SYS_mmap2
#else
#define NEW_MMAP SYS_mmap
#endif
#if defined SYS_clock_gettime64 && defined SYS_clock_gettime
#define NEW_CLOCK SYS_clock_gettime64
#define OLD_CLOCK SYS_clock_gettime
#elif defined SYS_clock_gettime64
#define NEW_CLOCK SYS_clock_gettime64
#define OLD_CLOCK -1
#else
#define NEW_CLOCK SYS_clock_gettime
#define OLD_CLOCK -1
#endif
	{"perf_event_open", SYS_perf_event_open, -1},
	{"open", SYS_openat, OLD_OPEN},
	{"mmap", NEW_MMAP, -1},
	{"clock_gettime", NEW_CLOCK, OLD_CLOCK},
	{"sched_setaffinity", SYS_sched_setaffinity, -1},
	{"prctl", SYS_prctl, -1},
	{"rt_sigaction", SYS_rt_sigaction, -1},
	{"rt_sigprocmask", SYS_rt_sigprocmask, -1},
};
enum { DENIED_CALLS = sizeof denied_calls / sizeof *denied_calls };

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

static const struct denied_how {
	const char *name;
	unsigned action;
} denied_how[] = {
	{"EPERM", SECCOMP_RET_ERRNO | EPERM},
	{"ENOSYS", SECCOMP_RET_ERRNO | ENOSYS},
	{"EACCES", SECCOMP_RET_ERRNO | EACCES},
	{"TRAP", SECCOMP_RET_TRAP},
	{"KILL", SECCOMP_RET_KILL_PROCESS},
};
enum { DENIED_HOW = sizeof denied_how / sizeof *denied_how };

/* The older call first: the newer may be prctl, which installs filters. */
__attribute__((unused)) static int deny_call(const struct denied_call *call,
					     const struct denied_how *how)
{
	if (call->older >= 0 && deny(call->older, how->action) != 0)
		return -1;
	return deny(call->number, how->action);
}
#endif

#endif
