/* SPDX-License-Identifier: 0BSD */
/* The system calls on perf events, one a function; tests replace them. None is
 * a cancellation point. */
#ifndef CPUC_EVENT_H
#define CPUC_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An event's page, which the kernel writes. */
typedef const volatile struct perf_event_mmap_page cpuc_page;

/* An event, as perf_event_attr has it. With type 0, PERF_TYPE_HARDWARE, a
 * generic one, which Linux gives to one PMU. */
struct cpuc_event {
	uint32_t type;
	uint64_t config;
};

/* The modes in which an event does not count. */
#define CPUC_NO_KERNEL 1u
#define CPUC_NO_HV 2u
/* It is on a register whenever its thread runs, before events that are not
 * pinned, or, once there is none, stands still for good. */
#define CPUC_PINNED 4u

/* Opens an event that counts for this thread: a close-on-exec descriptor, or
 * -errno. `flags` is a set of the above. */
int cpuc_event_open(const struct cpuc_event *event, uint64_t config1,
		    unsigned flags);

/* Maps the event's page in the place of a blank one, or, if that is NULL,
 * anywhere; NULL on failure. */
cpuc_page *cpuc_event_map(int fd, cpuc_page *blank);
void cpuc_event_unmap(cpuc_page *page); /* NULL: does nothing */

/* Replaces the page by zeros, which ends the event. False: it did not. */
bool cpuc_event_blank(cpuc_page *page);

/* The event's id; 0 if the descriptor is not an event's. */
uint64_t cpuc_event_id(int fd);

#endif
