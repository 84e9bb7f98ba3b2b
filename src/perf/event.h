/* SPDX-License-Identifier: 0BSD */
/* The system calls on perf events: no cancellation points. Tests replace it. */
#ifndef CPUC_EVENT_H
#define CPUC_EVENT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* An event's page, which the kernel writes. */
typedef const volatile struct perf_event_mmap_page cpuc_page;

/* An event, as in perf_event_attr. One of type PERF_TYPE_HARDWARE, which is 0,
 * is generic: Linux binds it to one PMU. */
struct cpuc_event {
	uint32_t type;   /* the PMU's */
	uint64_t config; /* which event of it */
};

/* What read(2) of one says. */
struct cpuc_event_count {
	uint64_t count;            /* of the event, while it was running */
	uint64_t enabled, running; /* ns that its thread, and it, has run */
};

/* Modes in which the event does not count. */
#define CPUC_NO_KERNEL 1u
#define CPUC_NO_HV 2u
/* The event has a register whenever its thread runs, before those that are not
 * pinned. If there once is none, it stands still until enabled again. */
#define CPUC_PINNED 4u

/* Opens an event of this thread: a close-on-exec descriptor, or -errno. */
int cpuc_event_open(const struct cpuc_event *event, uint64_t config1,
		    unsigned flags);

/* Maps the event's page, over an old one if that is not NULL. */
cpuc_page *cpuc_event_map(int fd, cpuc_page *old);
void cpuc_event_unmap(cpuc_page *page); /* NULL: does nothing */

/* Maps zeros over a page, closing its event, or in a hole. False: it failed. */
bool cpuc_event_blank(cpuc_page *page, bool over);

/* The event's id; 0 if the descriptor is not an event's. */
uint64_t cpuc_event_id(int fd);

#endif
