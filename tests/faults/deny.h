/* SPDX-License-Identifier: 0BSD */
/* Filters of system calls. */
#ifndef DENY_H
#define DENY_H

#include <config.h>

#define UNUSED __attribute__((unused))

#ifdef HAVE_LINUX_FILTER_H
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From now on the system calls of a list, of at most FILTER_CALLS, meet one
 * action of <linux/seccomp.h>, and all others another, also in programs that
 * are executed. What seccomp(2) returns: -1 where filters cannot be installed,
 * as under user emulation. */
#define FILTER_CALLS 32
UNUSED static int filter(const long *calls, size_t n, unsigned listed,
			 unsigned other)
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
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
}

UNUSED static int deny(long number, unsigned action)
{
	return filter(&number, 1, action, SECCOMP_RET_ALLOW);
}

#ifdef SYS_mmap2
#define NEW_MMAP SYS_mmap2
#else
#define NEW_MMAP SYS_mmap
#endif
#ifdef SYS_clock_gettime64
#define NEW_CLOCK SYS_clock_gettime64
#else
#define NEW_CLOCK SYS_clock_gettime
#endif

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

/* The calls of a name, of which some hosts have two. */
UNUSED static int deny_named(const char *name, unsigned action)
{
	static const struct {
		const char *name;
		long number;
	} calls[] = {
		{"perf_event_open", SYS_perf_event_open},
		{"open", SYS_openat},
#ifdef SYS_open
		{"open", SYS_open},
#endif
		{"mmap", NEW_MMAP},
		{"ioctl", SYS_ioctl},
		{"prctl", SYS_prctl},
		{"getrusage", SYS_getrusage},
		{"rt_sigaction", SYS_rt_sigaction},
		{"rt_sigprocmask", SYS_rt_sigprocmask},
	};
	size_t i;
	int denied = -1;

	for (i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			denied = deny(calls[i].number, action);
	return denied;
}
#else
#define deny(number, action) (-1)
#endif

#endif
