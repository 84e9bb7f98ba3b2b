/* SPDX-License-Identifier: 0BSD */
/* Counts a child's instructions or system calls between two marks, exactly, as
 * a debugger would. An emulator would count instructions as well, but not run
 * every counter. */
#ifndef TRACE_H
#define TRACE_H

#include <sys/types.h>

/* In the child: its parent will trace it, also when it becomes another program.
 */
void trace_me(void);

/* In the child; without effect in a process that is not traced. */
void trace_mark(void);

/* In the parent, once, before the following. */
void trace_begin(pid_t pid);

enum trace { TRACE_NOTHING, TRACE_CALLS, TRACE_STEPS };

/* Lets the child run to its next mark; returns how often it stopped before: at
 * each instruction, or at the beginning and end of each system call, those of
 * the mark included. -1: the child has ended, or cannot be traced. */
long trace_run(pid_t pid, enum trace stops);

/* In the parent, in place of these: the system calls of the child between its
 * first mark and its second, or -1. The child has ended then. */
long trace_calls(pid_t pid);

#endif
