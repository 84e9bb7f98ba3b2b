/* SPDX-License-Identifier: 0BSD */
/* The system calls on perf events, one a function; tests replace them. None is
 * a cancellation point. Only where there is <linux/perf_event.h>. */
#ifndef CPUC_EVENT_H
#define CPUC_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event's page, which the kernel writes. */
typedef const volatile struct perf_event_mmap_page cpuc_page;

/* What an event does not count. */
#define CPUC_NO_KERNEL 1u
#define CPUC_NO_HV 2u

/* Opens an event that counts this thread's cycles: a close-on-exec descriptor,
 * or -errno. `config` is 0, or a PMU's type in its upper half; `exclude` is a
 * set of CPUC_NO_KERNEL and CPUC_NO_HV. */
int cpuc_event_open(uint64_t config, uint64_t config1, unsigned exclude);
void cpuc_event_close(int fd);

/* Maps the event's page; NULL on failure. */
cpuc_page *cpuc_event_map(int fd);
void cpuc_event_unmap(cpuc_page *page); /* NULL: does nothing */

/* Replaces the page by zeros, which ends the mapping. False: it did not. */
bool cpuc_event_blank(cpuc_page *page);

/* The event's id; 0 if the descriptor is not an event's. */
uint64_t cpuc_event_id(int fd);

bool cpuc_event_read(int fd, uint64_t *count);

/* Reads a kernel setting: a file that holds one number. False if it does not.
 */
bool cpuc_event_setting(const char *path, long *number);

#endif
