/* SPDX-License-Identifier: 0BSD */
/* System calls that are no cancellation points on Linux. The C library's are:
 * glibc makes a thread's cancellation asynchronous in them, even where it is
 * disabled, and up to 2.36 its handler looks at that alone. A request that was
 * made before and arrives in there would end the thread with the lock. So
 * nothing under the lock or in the guard calls a cancellation point. */
#ifndef CPUC_SYSCALLS_H
#define CPUC_SYSCALLS_H

#include <stddef.h>
#include <sys/types.h>

/* As open(2), read(2) and close(2). */
int cpuc_sys_open(const char *path, int flags);
ssize_t cpuc_sys_read(int fd, void *buf, size_t size);
void cpuc_sys_close(int fd);

/* Sleeps for less than a second, or until a signal arrives. */
void cpuc_sys_sleep(long ns);

#endif
