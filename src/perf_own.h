/* SPDX-License-Identifier: 0BSD */
/* A thread's own events: between perf.c, which reads them, and perf_own.c. */
#ifndef CPUC_PERF_OWN_H
#define CPUC_PERF_OWN_H

#include "perf_sys.h"

/* A signal handler runs in between, or not at all. */
#define CPUC_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Whether the thread has events, of this counter's, and of this process. */
static inline bool cpuc_own_has(const struct cpuc_perf_thread *t,
				const struct cpuc_pmu *pmu)
{
	return pmu != NULL && t->pmu == pmu &&
	       *(const volatile uint32_t *)t->process != 0;
}

/* Opens the thread's events; `kept`: with descriptors for read(2), which they
 * otherwise have only where they cannot be mapped. `exclude` as for
 * cpuc_perf_sys_open. */
bool cpuc_own_open(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu,
		   unsigned exclude, uint32_t pid, bool kept);

/* The thread has no events any more, and goes on from what they counted. */
void cpuc_own_drop(struct cpuc_perf_thread *t);

/* Does without the pages, and maps them anew: on riscv64 an event whose users
 * were once shut out has index 0 until then. False: it is too early. */
void cpuc_own_unmap(struct cpuc_perf_thread *t);
bool cpuc_own_remap(struct cpuc_perf_thread *t);

/* Closes what are these events and not something of the application's. */
void cpuc_perf_close_events(struct cpuc_perf_event *event);

/* perf.c: the sum by the pages, false if that is not the count; and the sum by
 * the descriptors, added to *sum. */
bool cpuc_perf_read_pages(const struct cpuc_perf_thread *t, uint64_t *sum);
bool cpuc_perf_read_events(const struct cpuc_perf_event *event, unsigned events,
			   uint64_t *sum);

/* perf.c: `busy` ends; visitors of this process leave. */
void cpuc_perf_leave(struct cpuc_perf_thread *t, uint32_t pid);

#endif
