/* SPDX-License-Identifier: 0BSD */
/* Counts of this thread's perf event, read in user space where the kernel lets
 * us. Included only where there is <linux/perf_event.h>. */
#ifndef CPUC_PERF_H
#define CPUC_PERF_H

#include <linux/perf_event.h>
#include "slot.h"
#include "thread.h"

typedef const volatile struct perf_event_mmap_page cpuc_page;

/* A register of the PMU, by the index that a page gives (1 is the first). */
typedef uint64_t cpuc_register(uint32_t index);

/* Which events a counter wants, static in its file; perf_open.c. */
struct cpuc_pmu {
	uint64_t config1; /* of perf_event_attr */

	/* Reads whichever register a page names. NULL: the event is never
	 * mapped, only read by system calls. */
	cpuc_register *reg;

	/* Unmapping an event that counts would fault in other threads:
	 * perf_defer.c. */
	bool defer_unmap;

	/* Where there are two types of cores, the directories of their PMUs
	 * under CPUC_PMUS. One event a type, and the count is the sum. NULL:
	 * not on this architecture. */
	const char *core_types[2];

	/* A file with 0 in it where users may not read registers, and its
	 * name in a sentence. NULL: there is none. */
	const char *access_file, *access_name;

	/* Settled before `opened` is stored, with release order, for threads
	 * that open their own events; unchanged ever after but for `opened`,
	 * which a later selection may find to be another. */
	uint64_t config[2];
	unsigned events;
	unsigned opened; /* 0: never; otherwise 1 + CPUC_NO_... */
};

#define CPUC_PMUS "/sys/bus/event_source/devices/"
#define CPUC_NO_PMU                                                           \
	"no PMU is visible here (virtual machine?); the host would have to "  \
	"offer one"
#define CPUC_NO_KERNEL 1u
#define CPUC_NO_HV 2u

/* One thread's, or a visitor's, events. */
struct cpuc_perf_event {
	uint64_t id; /* the kernel's; 0: no descriptor is kept */
	int fd;
};

#define CPUC_OPENING UINT32_MAX

/* What a thread knows of its events. */
struct cpuc_perf_thread {
	/* 0 is there unless page[0] is this very thread's and its only one:
	 * cpuc_process_word() of the process that mapped it, or a zero. */
	const uint32_t *quick;
	cpuc_page *page[2]; /* never NULL: a page of zeros where none is */
	uint64_t base;      /* what events before these have counted */
	uint64_t last;      /* the last result, nearly: for a new base */

	/* What only perf.c knows. */
	const uint32_t *process; /* whose: the same word; NULL: no events */
	struct cpuc_pmu *pmu;
	struct cpuc_perf_event event[2];
	uint64_t clock;      /* ns; 0: events can be opened */
	cpuc_page *blank[2]; /* where pages were: perf.c, retire() */
	unsigned reads;      /* by system calls, since the last mapping */
	uint64_t off;        /* ns that event[0] had no register */
	uint64_t off_at;     /* when that last changed; perf_own.c, alone() */
	volatile int busy;   /* the above is being changed */
	struct cpuc_perf_visitor {
		struct cpuc_perf_event event[2];
		uint64_t base;
		uint32_t pid; /* 0: nobody; CPUC_OPENING: no event yet */
	} visitor;
};

extern CPUC_THREAD struct cpuc_perf_thread cpuc_perf_own;

/* For tests, which change the page between any two accesses. */
#ifndef CPUC_GET
#define CPUC_GET(page, field) ((page)->field)
#endif
#define CPUC_COMPILER_BARRIER() __asm__ volatile("" ::: "memory")

/* A register's value as the kernel takes it: signed, `width` bits wide. */
static inline uint64_t cpuc_sign_extend(uint64_t value, unsigned width)
{
	unsigned unused = (64 - width) & 63;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* Reads a page by the protocol of <linux/perf_event.h>. The index: 0 when the
 * event is on no register now, or users may not read it; *count is then what
 * it had counted when it was taken off. */
static inline __attribute__((always_inline)) uint32_t
cpuc_page_read(cpuc_page *page, cpuc_register *reg, uint64_t *count)
{
	uint32_t seq, index;
	uint64_t sum;

	/* No CPU's barriers: the only writer is the kernel on this very CPU,
	 * or on another while this thread is not running. */
	do {
		seq = CPUC_GET(page, lock);
		CPUC_COMPILER_BARRIER();
		index = CPUC_GET(page, index);
		sum = (uint64_t)CPUC_GET(page, offset);
		if (!CPUC_GET(page, cap_user_rdpmc))
			index = 0;
		if (index != 0)
			sum += cpuc_sign_extend(reg(index),
						CPUC_GET(page, pmc_width));
		CPUC_COMPILER_BARRIER();
	} while (CPUC_GET(page, lock) != seq);
	*count = sum;
	return index;
}

/* perf.c: the count, whatever has to be done for it. */
long long cpuc_perf_slow(struct cpuc_pmu *pmu);

/* The reader of a counter: pages are read inline when this thread has one
 * event, on a register of index `usual` (0: on any), and the kernel did not
 * come in between. Everything else is out of line. */
static inline __attribute__((always_inline)) long long
cpuc_perf_count(struct cpuc_pmu *pmu, cpuc_register *reg, uint32_t usual)
{
	struct cpuc_perf_thread *t = &cpuc_perf_own;
	cpuc_page *page;
	uint32_t seq, index;
	uint64_t sum, value;

	/* Zero in the child of a fork, where the page is not mapped. */
	if (__builtin_expect(*(const volatile uint32_t *)t->quick == 0, 0))
		return cpuc_perf_slow(pmu);
	page = t->page[0];
	seq = CPUC_GET(page, lock);
	CPUC_COMPILER_BARRIER();
	index = CPUC_GET(page, index);
	if (__builtin_expect(usual ? index != usual : index == 0, 0))
		return cpuc_perf_slow(pmu);
	/* Also the base: a handler that changes it retires the page. */
	sum = t->base + (uint64_t)CPUC_GET(page, offset);
	value = cpuc_sign_extend(reg(usual ? usual : index),
				 CPUC_GET(page, pmc_width));
	CPUC_COMPILER_BARRIER();
	if (__builtin_expect(CPUC_GET(page, lock) != seq, 0))
		return cpuc_perf_slow(pmu);
	sum += value;
	t->last = sum;
	return (long long)sum;
}

/* The open and close of such a counter's descriptor; perf_open.c. close drops
 * the calling thread's events alone: other threads may be reading theirs. */
int cpuc_perf_open(struct cpuc_slot *slot, struct cpuc_pmu *pmu);
void cpuc_perf_close(struct cpuc_pmu *pmu);

/* For a counter that is read outside perf: whether to try it. Where perf events
 * can be read, their counter must not be read in another way: what it counts
 * depends on who else has events. 0, or -errno with the reason. */
int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_pmu *pmu);

/* perf.c: drops the calling thread's events, if they are this PMU's; NULL: any.
 */
void cpuc_perf_drop(const struct cpuc_pmu *pmu);

/* perf.c: whether this thread's events, which cpuc_perf_slow has opened, can be
 * read without a system call now. */
bool cpuc_perf_readable(const struct cpuc_pmu *pmu);

#endif
