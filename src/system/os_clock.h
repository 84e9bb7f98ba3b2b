/* SPDX-License-Identifier: 0BSD */
/* The operating system's clocks, even where their fast paths fault. */
#ifndef CPUC_OS_CLOCK_H
#define CPUC_OS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* CLOCK_MONOTONIC in nanoseconds, the time of day in microseconds; 0 if the
 * clock cannot be read. Both keep errno. */
uint64_t cpuc_os_clock_ns(void);
uint64_t cpuc_os_clock_us(void);

/* CLOCK_MONOTONIC in steps of milliseconds, quicker to read. Not on Windows. */
uint64_t cpuc_os_clock_coarse_ns(void);

/* The time for which the calling thread has run, in ticks of hz a second (of
 * its own on Windows); 0: unknown. Always a system call. Keeps errno. */
uint64_t cpuc_os_clock_thread(uint64_t hz);

/* Finds out, with the probe open, whether the clocks may be read in user space.
 * Until then, and where they may not, system calls read them. */
void cpuc_os_clock_check(void);

/* Whether it found that x86 Linux's prctl(PR_SET_TSC) forbids the TSC. */
extern bool cpuc_tsc_forbidden;

#endif
