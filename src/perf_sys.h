/* SPDX-License-Identifier: 0BSD */
/* The system calls on perf events, one a function; tests have their own. None
 * is a cancellation point. */
#ifndef CPUC_PERF_SYS_H
#define CPUC_PERF_SYS_H

#include "perf.h"

/* A close-on-exec descriptor of this thread's cycles, or -errno. `exclude` is
 * of CPUC_NO_KERNEL and CPUC_NO_HV; `config` 0, or a PMU's type in the upper
 * half. */
int cpuc_perf_sys_open(uint64_t config, uint64_t config1, unsigned exclude);
void cpuc_perf_sys_close(int fd);

/* The event's page; NULL where it cannot be mapped. */
cpuc_page *cpuc_perf_sys_map(int fd);
void cpuc_perf_sys_unmap(cpuc_page *page);

/* Puts zeros where the page is, which ends the mapping and lets a reader that
 * is in the middle of it find out. False: nothing was done. */
bool cpuc_perf_sys_blank(cpuc_page *page);

/* The event's id, 0 if the descriptor is no event's. */
uint64_t cpuc_perf_sys_id(int fd);

bool cpuc_perf_sys_read(int fd, uint64_t *count);
uint32_t cpuc_perf_sys_pid(void);

/* The whole file is one number: false if not. */
bool cpuc_perf_sys_number(const char *path, long *number);

#endif
