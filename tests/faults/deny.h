/* SPDX-License-Identifier: 0BSD */
/* Filters of system calls. */
#ifndef DENY_H
#define DENY_H

#include <config.h>

#ifdef HAVE_LINUX_FILTER_H
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on the system calls of a list, of at most FILTER_CALLS, meet one
 * action of <linux/seccomp.h>, and all others another, also in programs that
 * are executed. What seccomp(2) returns: -1 where filters cannot be installed,
 * as under user emulation. */
#define FILTER_CALLS 32
__attribute__((unused)) static int filter(const long *calls, size_t n,
					  unsigned listed, unsigned other,
					  unsigned flags)
{
	struct sock_filter rule[2 * FILTER_CALLS + 2] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {0, rule};
	struct sock_filter *end = rule + 1;

	if (n > FILTER_CALLS)
		return -1;
	for (; n > 0; n--, calls++) {
		*end++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						      (unsigned)*calls, 0, 1);
		*end++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed);
	}
	*end++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, other);
	program.len = (unsigned short)(end - rule);
	/* Where prctl itself was denied before, one has been set. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			    &program);
}

__attribute__((unused)) static int deny(long number, unsigned action)
{
	return filter(&number, 1, action, SECCOMP_RET_ALLOW, 0);
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

__attribute__((unused)) static int deny_call(const struct denied_call *call,
					     const struct denied_how *how)
{
	if (call->older >= 0 && deny(call->older, how->action) != 0)
		return -1;
	return deny(call->number, how->action);
}
#else
#define deny(number, action) (-1)
#endif

#endif
