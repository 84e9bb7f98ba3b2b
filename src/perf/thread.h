/* SPDX-License-Identifier: 0BSD */
/* A thread's perf events: opened and mapped at its first call, closed at its
 * end. Only where there is <linux/perf_event.h>. */
#ifndef CPUC_PERF_THREAD_H
#define CPUC_PERF_THREAD_H

#include "../thread.h"
#include "event.h"

/* Reads the PMU register that a page's index names; the first index is 1. */
typedef uint64_t cpuc_register(uint32_t index);

/* The events that a counter reads; static in its file. */
struct cpuc_pmu {
	uint64_t config1; /* of perf_event_attr */

	/* NULL: the event is never mapped, only read by system calls. */
	cpuc_register *reg;

	/* Unmapping an event that counts would fault in other threads:
	 * perf_thread_defer(). */
	bool defer_unmap;

	/* Where there are two types of cores, the directories of their PMUs
	 * under CPUC_PMUS: one event each, and the count is the sum. NULL: not
	 * on this architecture. */
	const char *core_types[2];

	/* A file that holds 0 where users may not read registers, and its name
	 * in messages. NULL: there is none. */
	const char *access_file, *access_name;

	/* Filled in by cpuc_perf_open() before it stores `opened` with release
	 * order. Only `opened` changes afterwards, when a later selection must
	 * open the events in another way. */
	uint64_t config[2];
	unsigned events;
	unsigned opened; /* 0: never; otherwise 1 + CPUC_NO_... */
};

struct cpuc_perf_event {
	uint64_t id; /* the kernel's; 0: no descriptor is kept */
	int fd;
};

struct cpuc_perf_thread {
	/* Points to 0 unless page[0] is this thread's only page and mapped in
	 * this process. */
	const uint32_t *quick;
	cpuc_page *page[2]; /* never NULL: a page of zeros where none is */
	uint64_t base;      /* the count of all earlier events */
	uint64_t last;      /* a recent result, the next base */

	/* The inline reader needs only the above. */
	const uint32_t *process; /* cpuc_process_word() when they were opened */
	struct cpuc_pmu *pmu;    /* whose events they are; NULL: none */
	struct cpuc_perf_event event[2];
	uint64_t clock;      /* ns of the last count by time; 0: by events */
	cpuc_page *blank[2]; /* zeros in the place of old pages */
	unsigned reads;      /* by system calls since the last mapping */
	uint64_t off;        /* ns that event[0] was on no register */
	uint64_t off_at;     /* time_enabled when `off` last changed */
	uint64_t busy_since; /* ns */
	volatile bool busy;  /* this thread is changing the above */
};

/* The calling thread's state, or a constant one in which `quick` points to 0.
 */
extern CPUC_THREAD struct cpuc_perf_thread *cpuc_perf_own;

/* Points cpuc_perf_own to a state that can be changed, and returns that; NULL:
 * no memory, now or ever in this thread. */
struct cpuc_perf_thread *cpuc_perf_thread_state(void);

/* Orders accesses against signal handlers of the same thread. */
#define CPUC_FENCE() __atomic_signal_fence(__ATOMIC_SEQ_CST)

/* Whether the thread has events for this PMU, in this process. */
static inline bool cpuc_perf_thread_has(const struct cpuc_perf_thread *t,
					const struct cpuc_pmu *pmu)
{
	return pmu != NULL && t->pmu == pmu &&
	       *(const volatile uint32_t *)t->process != 0;
}

/* Surround all that follows. False: the caller is a signal handler that
 * interrupted it in this thread. */
bool cpuc_perf_thread_enter(struct cpuc_perf_thread *t);
void cpuc_perf_thread_leave(struct cpuc_perf_thread *t);

/* Opens the thread's events. `kept`: with descriptors for read(2), which
 * otherwise stay open only where a page cannot be mapped. */
bool cpuc_perf_thread_open(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu,
			   bool kept);

/* Closes the events. The caller has saved their count in `last`. `ending`: it
 * is the thread's end, and nobody can be reading a page. */
void cpuc_perf_thread_drop(struct cpuc_perf_thread *t, bool ending);

/* Gives up the pages; maps them again: on riscv64, once users were shut out,
 * the index stays 0 until then. False: too early. */
void cpuc_perf_thread_unmap(struct cpuc_perf_thread *t, bool ending);
bool cpuc_perf_thread_remap(struct cpuc_perf_thread *t);

#endif
