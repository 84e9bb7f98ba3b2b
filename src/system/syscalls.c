/* SPDX-License-Identifier: 0BSD */
/* syscalls.h by syscall(2), where there is one. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif
#include "syscalls.h"

/* MemorySanitizer does not see what syscall(2) writes. */
#if defined __linux__ && defined __has_feature
#if __has_feature(memory_sanitizer)
#define SYSCALLS_PLAIN
#endif
#endif

#if defined __linux__ && !defined SYSCALLS_PLAIN
#define SYSCALLS_CALL(name, ...) syscall(SYS_##name, __VA_ARGS__)
#else
#define SYSCALLS_CALL(name, ...) name(__VA_ARGS__)
#endif

int cpuc_sys_open(const char *path, int flags)
{
	return (int)SYSCALLS_CALL(openat, AT_FDCWD, path, flags);
}

ssize_t cpuc_sys_read(int fd, void *buf, size_t size)
{
	return SYSCALLS_CALL(read, fd, buf, size);
}

void cpuc_sys_close(int fd)
{
	SYSCALLS_CALL(close, fd);
}

/* On hosts that also have a call for a 64-bit time_t, nanosleep takes longs,
 * whatever time_t is. The newest hosts have only the other call. */
void cpuc_sys_sleep(long ns)
{
#if defined __linux__ && !defined SYS_nanosleep
	int64_t t[2] = {0, ns};

	syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, t, NULL);
#else
#if defined SYS_clock_nanosleep_time64 && !defined SYSCALLS_PLAIN
	long t[2] = {0, ns};
#else
	struct timespec t[1] = {{0, ns}};
#endif

	SYSCALLS_CALL(nanosleep, t, NULL);
#endif
}

void *cpuc_sys_zeros(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

#if defined __linux__ && defined SYS_rt_sigprocmask
#define SYSCALLS_MASK
#endif

void cpuc_sys_all(sigset_t *set)
{
	sigfillset(set);
#ifdef SYSCALLS_MASK
	memset(set, 0xff, sizeof *set);
#endif
}

bool cpuc_sys_mask(int how, const sigset_t *set, sigset_t *was)
{
#ifdef SYSCALLS_MASK
	const int saved = errno;
	bool done;

	if (was != NULL)
		sigemptyset(was);
	done = syscall(SYS_rt_sigprocmask, how, set, was,
		       (size_t)(_NSIG / 8)) == 0;
	errno = saved;
	return done;
#else
	return pthread_sigmask(how, set, was) == 0;
#endif
}

/* The type, too: glibc before 2.37 checks nothing else. Android has neither. */
void cpuc_cancel_off(struct cpuc_cancel *was)
{
	(void)was;
#if defined HAVE_PTHREAD_SETCANCELSTATE && !defined SYSCALLS_MASK
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &was->type);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &was->state);
#endif
}

void cpuc_cancel_on(const struct cpuc_cancel *was)
{
	(void)was;
#if defined HAVE_PTHREAD_SETCANCELSTATE && !defined SYSCALLS_MASK
	pthread_setcancelstate(was->state, NULL);
	pthread_setcanceltype(was->type, NULL);
#endif
}
