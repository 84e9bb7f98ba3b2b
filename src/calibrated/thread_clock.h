/* SPDX-License-Identifier: 0BSD */
/* The thread's clock in a count's ticks, and whether it is to be believed. */
#ifndef CPUC_THREAD_CLOCK_H
#define CPUC_THREAD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Whether it advances as this clock does: some have steps of ms. */
bool cpuc_thread_clock_agrees(long long (*tick)(void), uint64_t hz);

/* Whether it is believed, so that a count leaves out the time for which its
 * thread does not run. */
bool cpuc_thread_clock_ok(void);

/* The ticks for which this thread has run; 0: unknown. A system call. */
uint64_t cpuc_thread_clock(void);

/* Watches a clock that showed `reading` after the tick `before`, as it lacks
 * something, for up to 13 ms. False: it stood still, and then leapt, and no
 * thread of this process believes it from now on. */
bool cpuc_thread_clock_watch(uint64_t before, uint64_t reading);

#endif
