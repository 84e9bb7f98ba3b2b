/* SPDX-License-Identifier: 0BSD */
/* The count of a thread's perf events, by whatever it takes. Only where there
 * is <linux/perf_event.h>. */
#ifndef CPUC_PERF_READ_H
#define CPUC_PERF_READ_H

#include "thread.h"

/* The count, with any system calls that are needed. */
long long cpuc_perf_slow(struct cpuc_pmu *pmu);

/* Whether this thread has opened this PMU's events and can read them without a
 * system call now. */
bool cpuc_perf_readable(const struct cpuc_pmu *pmu);

/* Closes the calling thread's events if they are this PMU's; NULL: any. */
void cpuc_perf_drop(const struct cpuc_pmu *pmu);

#endif
