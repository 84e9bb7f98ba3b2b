/* SPDX-License-Identifier: 0BSD */
/* The operating system's clocks, also where their fast paths fault. */
#ifndef CPUC_CLOCK_H
#define CPUC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, microseconds of gettimeofday; 0 when the
 * clock cannot be read. */
uint64_t cpuc_clock_ns(void);
uint64_t cpuc_clock_us(void);

/* CLOCK_MONOTONIC within some milliseconds, cheaply. */
uint64_t cpuc_clock_coarse_ns(void);

/* Finds out, between cpuc_probe_begin and cpuc_probe_end, whether the clocks'
 * fast paths may be used; before that, and where they may not, the clocks go
 * through system calls. */
void cpuc_clock_check(void);

/* Whether this thread may not read the time-stamp counter: x86 Linux's
 * prctl(PR_SET_TSC); false where there is no such thing, and where it cannot be
 * asked. Between cpuc_probe_begin and cpuc_probe_end. */
bool cpuc_tsc_forbidden(void);

#endif
