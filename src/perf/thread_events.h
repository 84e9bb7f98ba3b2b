/* SPDX-License-Identifier: 0BSD */
/* A thread's perf events, of cycles and of instructions: opened and mapped at
 * its first call, closed at its end. */
#ifndef CPUC_THREAD_EVENTS_H
#define CPUC_THREAD_EVENTS_H

#include "../thread/thread.h"
#include "pmus.h"

/* Reads the PMU register that a page's index names; the first index is 1. */
typedef uint64_t cpuc_register(uint32_t index);

/* The events that a counter reads; static in its file. */
struct cpuc_event_set {
	/* PERF_COUNT_HW_CPU_CYCLES, 0, or PERF_COUNT_HW_INSTRUCTIONS, 1. */
	unsigned counts;

	uint64_t config1; /* of perf_event_attr */

	/* NULL: the event is never mapped, only read by system calls. */
	cpuc_register *reg;

	/* Unmapping an event that counts would fault in other threads:
	 * thread_events_defer(). */
	bool defer_unmap;

	/* Users may read registers as long as the process has mapped a page. */
	bool keep_page;

	/* The file that holds 0 if users may not read registers: the first of
	 * these that exists. */
	const char *access[2];

	/* Filled in by cpuc_perf_try() before it stores `opened` with release
	 * order. Only `opened` changes afterwards, when a later selection must
	 * open the events in another way. */
	struct cpuc_event event[CPUC_CORES]; /* the count is their sum */
	unsigned n;
	unsigned opened; /* 0: never; otherwise 1 + CPUC_NO_... */
	bool absent;     /* the system lists no PMU of cores */
};

/* How a thread opens its events: the first way that works. */
enum cpuc_perf_way {
	CPUC_MAPPED, /* pinned; without descriptors */
	CPUC_KEPT,   /* pinned; with descriptors for read(2) */
	CPUC_SHARED  /* the same, not pinned: they may miss cycles */
};

struct cpuc_perf_event {
	cpuc_page *page;  /* NULL: none is mapped */
	cpuc_page *blank; /* what is in the place of an old page */
	uint64_t id;      /* the kernel's; 0: no descriptor is kept */
	int fd;
};

struct cpuc_perf_thread {
	/* Points to 0 unless `page` is mapped in this process. */
	const uint32_t *quick;

	/* While the page's lock is this one, the thread has not been switched.
	 * So its event is on register `index` still, no other event of the
	 * thread has counted, and the count is `sum` and the register, which is
	 * signed and has `unused` bits less than 64. */
	cpuc_page *page;
	uint64_t sum;
	uint32_t lock;
	uint32_t index;
	uint32_t unused;
	uint64_t last; /* a recent result, the next base */

	/* The inline reader needs only the above. */
	uint64_t base;           /* the count of all earlier events */
	const uint32_t *process; /* cpuc_process_mark() when they were opened */
	struct cpuc_event_set *set; /* whose events they are; NULL: none */
	struct cpuc_perf_event event[CPUC_CORES];
	uint64_t clock;      /* ns of the last count by time; 0: by events */
	unsigned way;        /* how they were opened: cpuc_perf_way */
	unsigned reads;      /* by system calls since then */
	uint64_t unreadable; /* ns; when the last pages became that */
};

/* A thread has two states, of cycles and of instructions, in the order of what
 * sets count. They know nothing of each other. Changed under the guard, but for
 * `last`. */
#define CPUC_STATES 2

/* Those before the first count, and for good where there is no memory. Their
 * `quick` points to 0, and they count nothing. */
extern struct cpuc_perf_thread cpuc_perf_nobody[CPUC_STATES],
	cpuc_perf_no_memory[CPUC_STATES];

/* The calling thread's. */
extern CPUC_TLS struct cpuc_perf_thread *cpuc_perf_own;

/* The one of them for this set's events. */
static inline struct cpuc_perf_thread *
cpuc_perf_thread_own(const struct cpuc_event_set *set)
{
	return &cpuc_perf_own[set->counts];
}

/* Whether this is the process in which the thread last opened events. */
static inline bool cpuc_perf_thread_is_here(const struct cpuc_perf_thread *t)
{
	return t->process != NULL && *(const volatile uint32_t *)t->process;
}

/* Whether the thread has events of this set, in this process. */
static inline bool cpuc_perf_thread_has(const struct cpuc_perf_thread *t,
					const struct cpuc_event_set *set)
{
	return set != NULL && t->set == set && cpuc_perf_thread_is_here(t);
}

/* The same, that can be changed; NULL: there is no memory. Under the guard,
 * like all that follows. */
struct cpuc_perf_thread *
cpuc_perf_thread_state(const struct cpuc_event_set *set);

/* Opens the thread's events, if it has none. True does not mean that they can
 * be read: a page may not map, and a pinned event may stand still. */
bool cpuc_perf_thread_open(struct cpuc_perf_thread *t,
			   struct cpuc_event_set *set, unsigned way);

/* Closes the events; the caller has saved their count in `last`. */
void cpuc_perf_thread_drop(struct cpuc_perf_thread *t, bool ending);

#endif
