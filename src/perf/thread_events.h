/* SPDX-License-Identifier: 0BSD */
/* A thread's perf events, from its first call to its end. */
#ifndef CPUC_THREAD_EVENTS_H
#define CPUC_THREAD_EVENTS_H

#include <stddef.h>
#include "../thread/guard.h"
#include "pmus.h"

/* Reads the PMU register that a page's index names; the first index is 1. */
typedef uint64_t cpuc_register(uint32_t index);

/* The events that a counter reads. */
struct cpuc_event_set {
	unsigned counts;    /* PERF_COUNT_HW_CPU_CYCLES or _INSTRUCTIONS */
	uint64_t config1;   /* of perf_event_attr */
	cpuc_register *reg; /* NULL: never mapped, read by system calls */
	bool defer_unmap;   /* to unmap one that counts lets others fault */
	bool keep_page;     /* without a mapped page no register may be read */

	/* The first that exists holds 0 if users may not read registers, and
	 * `outside` if they may, but not by perf events. */
	const char *access[2];
	long outside; /* 0: there is no such value */

	/* Filled in by cpuc_perf_try(), which then stores `opened` with release
	 * order, for cpuc_perf_slow() and cpuc_perf_opened() to acquire. Later
	 * only `opened` changes, with the exclude bits, and the last two, which
	 * nothing needs in order. */
	struct cpuc_event event[CPUC_TYPES]; /* the count is their sum */
	unsigned n;      /* of these, one for each type of core */
	unsigned opened; /* 0: never; otherwise 1 + CPUC_NO_... */
	bool absent;     /* the system lists no PMU of cores */
	bool right;      /* by the latest trial */
	unsigned proven; /* types of cores on which it was right, a bit each */
};

enum cpuc_perf_way {
	CPUC_MAPPED,      /* pinned; without descriptors */
	CPUC_PINNED_FD,   /* pinned; with descriptors for read(2) */
	CPUC_MULTIPLEXED, /* with descriptors, not pinned: may miss cycles */
	CPUC_FAULTED /* was CPUC_MAPPED, when a read of the register faulted */
};

/* What      made by           ended by
 * states    the first count   the thread's last destructor
 * fd        an opening        the same if MAPPED; else drop, if still its own
 * page      an opening        drop: becomes `old`, as zeros or (keep_page,
 *                             index 0) as it is; at the thread's end unmapped
 *                             or (defer_unmap) put into place[]
 * old       drop              an opening maps over it; the end unmaps it
 * place[]   a thread's end    a later thread's opening, at index 0 (these are
 *                             cpuc_process->place[])
 *
 * A child of fork does not have the pages, and unmaps nothing. */
struct cpuc_perf_event {
	cpuc_page *page; /* NULL: none is mapped */
	cpuc_page *old;  /* its place, for the next one; or NULL */
	uint64_t id;     /* the kernel's; 0: no descriptor is kept */
	uint64_t seen;   /* ns that it had run when it was last read */
	int fd;          /* valid while `id` is not 0 */
};

struct cpuc_perf_thread {
	/* Equal to `mark` if `page` is mapped, else it points to 0. */
	const uint32_t *quick;

	/* While the page's lock is `lock`, the thread has not been switched:
	 * its event is still on register `index`, no other has counted, and the
	 * count is `sum` plus the register's 64 - unused bits, signed. */
	cpuc_page *page;
	uint64_t sum; /* also a serial number: each drop changes it */
	uint32_t lock;
	uint32_t index;  /* as the page has it: never 0 */
	uint32_t unused; /* of a 64-bit register's bits */
	uint64_t last;   /* a recent result, from which new events continue */

	/* The inline reader needs only the above. */
	uint64_t base;        /* the count of all earlier events */
	const uint32_t *mark; /* the process's when opened; outlives `set` */
	struct cpuc_event_set *set; /* whose events they are; NULL: none */
	struct cpuc_perf_event event[CPUC_TYPES];
	uint64_t clock; /* ns of the last count by time; 0: by events */
	unsigned way;   /* how they were opened: cpuc_perf_way */
	unsigned reads; /* of descriptors, since they were opened */
	unsigned on;    /* the events that the latest slow count saw counting */
	uint64_t unreadable; /* ns: when pages last became unreadable */
};

/* A thread's: [set->counts]. They change in the guard, but `last`, `reads`,
 * `on` and `seen`. */
#define CPUC_STATES 2

/* Those of a thread before its first count, and of one without memory. Both are
 * shared, and never change. */
extern struct cpuc_perf_thread cpuc_perf_nobody[CPUC_STATES],
	cpuc_perf_no_memory[CPUC_STATES];

/* The calling thread's. */
extern CPUC_TLS struct cpuc_perf_thread *cpuc_perf_own;

static inline struct cpuc_perf_thread *
cpuc_perf_thread_own(const struct cpuc_event_set *set)
{
	return &cpuc_perf_own[set->counts];
}

/* Whether the thread last opened events in this process. */
static inline bool cpuc_perf_thread_is_here(const struct cpuc_perf_thread *t)
{
	return t->mark != NULL && *(const volatile uint32_t *)t->mark;
}

/* Whether the thread has events of this set, in this process. */
static inline bool cpuc_perf_thread_has(const struct cpuc_perf_thread *t,
					const struct cpuc_event_set *set)
{
	return set != NULL && t->set == set && cpuc_perf_thread_is_here(t);
}

/* Whether it was on a type of core, at its latest slow count, where nobody has
 * seen these events count rightly. One that may miss cycles proves nothing. */
static inline bool cpuc_perf_thread_unproven(const struct cpuc_perf_thread *t,
					     const struct cpuc_event_set *set)
{
	return set->n > 1 && cpuc_perf_thread_has(t, set) &&
	       t->way == (set->reg != NULL ? CPUC_MAPPED : CPUC_PINNED_FD) &&
	       (t->on & ~__atomic_load_n(&set->proven, __ATOMIC_RELAXED)) != 0;
}

/* The calling thread's state, to be changed; NULL: no memory. ended() is as in
 * cpuc_thread_memory(). Under the guard, like all that follows. */
struct cpuc_perf_thread *
cpuc_perf_thread_state(const struct cpuc_event_set *set,
		       void (*ended)(void *states, bool last));

/* Opens the events of a thread that has none. Even if true, a page may not be
 * mapped, and a pinned event may stand still. */
bool cpuc_perf_thread_open(struct cpuc_perf_thread *t,
			   struct cpuc_event_set *set, unsigned way);

/* Closes the events, whose count has been saved in `last`. */
void cpuc_perf_thread_drop(struct cpuc_perf_thread *t, bool ending);

#endif
