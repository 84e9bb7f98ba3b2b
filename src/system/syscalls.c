/* SPDX-License-Identifier: 0BSD */
/* System calls that are no cancellation points on Linux. */
#include <config.h>
#ifndef _WIN32
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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

int cpuc_sys_open(const char *path, int flags)
{
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags);
}

ssize_t cpuc_sys_read(int fd, void *buf, size_t size)
{
	return syscall(SYS_read, fd, buf, size);
}

void cpuc_sys_close(int fd)
{
	syscall(SYS_close, fd);
}

/* 32-bit hosts have two calls, as os_clock.c says; the newest have one. */
#ifdef SYS_clock_nanosleep_time64
void cpuc_sys_sleep(long ns)
{
	int64_t wide[2] = {0, ns};
#ifdef SYS_nanosleep
	long narrow[2] = {0, ns};
#endif

	if (syscall(SYS_clock_nanosleep_time64, CLOCK_MONOTONIC, 0, wide,
		    NULL) == 0)
		return;
#ifdef SYS_nanosleep
	if (errno == ENOSYS)
		syscall(SYS_nanosleep, narrow, NULL);
#endif
}
#else
void cpuc_sys_sleep(long ns)
{
	struct timespec t = {0, ns};

	syscall(SYS_nanosleep, &t, NULL);
}
#endif

#else

int cpuc_sys_open(const char *path, int flags)
{
	return open(path, flags);
}

ssize_t cpuc_sys_read(int fd, void *buf, size_t size)
{
	return read(fd, buf, size);
}

void cpuc_sys_close(int fd)
{
	close(fd);
}

void cpuc_sys_sleep(long ns)
{
	struct timespec t = {0, ns};

	nanosleep(&t, NULL);
}

#endif
#endif
