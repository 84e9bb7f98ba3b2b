/* SPDX-License-Identifier: 0BSD */
/* System calls that are not cancellation points on Linux: in those glibc up to
 * 2.36 cancels even where that is disabled, and the thread would end with the
 * lock held. So nothing under the lock or in the guard calls one. */
#ifndef CPUC_SYSCALLS_H
#define CPUC_SYSCALLS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* As open(2), read(2) and close(2). */
int cpuc_sys_open(const char *path, int flags);
ssize_t cpuc_sys_read(int fd, void *buf, size_t size);
void cpuc_sys_close(int fd);

/* Sleeps for less than a second, or until a signal arrives. */
void cpuc_sys_sleep(long ns);

#ifndef _WIN32
/* A new mapping of zeros; NULL: no memory. */
void *cpuc_sys_zeros(size_t size);

/* All signals; and as pthread_sigmask(3), if that is allowed. On Linux also for
 * those by which the C library cancels a thread, which that leaves alone: while
 * they are blocked a request waits. Keeps errno. */
void cpuc_sys_all(sigset_t *set);
bool cpuc_sys_mask(int how, const sigset_t *set, sigset_t *was);
#endif

/* Until cpuc_cancel_on, nobody's request cancels the thread, on other systems.
 * On Linux these do nothing: a handler that leaves by a jump just before
 * signals are blocked, or just after, must not leave cancellation disabled. */
struct cpuc_cancel {
	int state, type; /* the thread's before, where it was turned off */
};
void cpuc_cancel_off(struct cpuc_cancel *was);
void cpuc_cancel_on(const struct cpuc_cancel *was);

#endif
