/* SPDX-License-Identifier: 0BSD */
/* Counts instructions exactly: a child runs code one instruction at a time. */
#ifndef STEPS_H
#define STEPS_H

#include <sys/types.h>

/* In the child, once, before anything is counted. */
void steps_traced(void);

/* In the child: what runs between two of these is counted. */
void steps_mark(void);

/* In the parent: the instructions between two marks, those of the marks
 * included, which are always as many. -1 when the child has ended. */
long steps_count(pid_t pid);

#endif
