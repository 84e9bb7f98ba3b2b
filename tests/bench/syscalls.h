/* SPDX-License-Identifier: 0BSD */
/* Counts the system calls that a process makes between two marks. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <sys/types.h>

/* In the process: a call that is not made otherwise. */
void syscalls_mark(void);

/* In the process, before it becomes the program: its parent will count. */
void syscalls_traced(void);

/* In its parent: how many calls the child made between the marks, or -1 where
 * that cannot be told. The child has ended then. */
int syscalls_count(pid_t pid);

#endif
