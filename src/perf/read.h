/* SPDX-License-Identifier: 0BSD */
/* The count of a thread's perf events: in user space, inline, where the kernel
 * permits it, and by system calls elsewhere. Empty where there is no
 * <linux/perf_event.h>. */
#ifndef CPUC_PERF_READ_H
#define CPUC_PERF_READ_H
#if HAVE_COUNTER_DEFAULT_PERFEVENT

#include "thread_events.h"

/* The count, with any system calls that are needed. */
long long cpuc_perf_slow(struct cpuc_event_set *set);

/* Whether this thread has opened this set's events and can read them without a
 * system call now. */
bool cpuc_perf_readable(const struct cpuc_event_set *set);

/* Closes the calling thread's events if they are this set's. */
void cpuc_perf_drop(const struct cpuc_event_set *set);

/* Closes the calling thread's events of cycles, or of instructions, as this
 * set counts. */
void cpuc_perf_make_room(const struct cpuc_event_set *set);

/* Tests change the page between any two accesses. */
#ifndef CPUC_GET
#define CPUC_GET(page, field) ((page)->field)
#endif

/* A register's value as the kernel takes it: signed, `width` bits wide. */
static inline uint64_t cpuc_sign_extend(uint64_t value, unsigned width)
{
	unsigned unused = (64 - width) & 63;

	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* Reads a page by the seqlock protocol of <linux/perf_event.h>. Returns its
 * index: 0 when the event is on no register now, or users may not read it, and
 * *count is then its value when it was taken off. */
static inline __attribute__((always_inline)) uint32_t
cpuc_page_read(cpuc_page *page, cpuc_register *reg, uint64_t *count)
{
	uint32_t seq, index;
	uint64_t sum;

	/* Compiler barriers are enough: the only writer is the kernel, on this
	 * CPU, or on another while this thread is not running. */
	do {
		seq = CPUC_GET(page, lock);
		CPUC_FENCE();
		index = CPUC_GET(page, index);
		sum = (uint64_t)CPUC_GET(page, offset);
		if (!CPUC_GET(page, cap_user_rdpmc))
			index = 0;
		if (index != 0)
			sum += cpuc_sign_extend(reg(index),
						CPUC_GET(page, pmc_width));
		CPUC_FENCE();
	} while (CPUC_GET(page, lock) != seq);
	*count = sum;
	return index;
}

/* The body of a counter's read. `t` is the thread's state for this set's
 * events. Reads the page inline if the thread has one event, which is on
 * register `usual` (0: on any), and the kernel does not interfere. */
static inline __attribute__((always_inline, unused)) long long
cpuc_perf_count_of(struct cpuc_perf_thread *t, struct cpuc_event_set *set,
		   cpuc_register *reg, uint32_t usual)
{
	cpuc_page *page;
	uint32_t seq, index;
	uint64_t sum, value;

	/* Zero in the child of a fork, where the page is not mapped. */
	if (__builtin_expect(*(const volatile uint32_t *)t->quick == 0, 0))
		return cpuc_perf_slow(set);
	page = t->event[0].page;
	seq = CPUC_GET(page, lock);
	CPUC_FENCE();
	index = CPUC_GET(page, index);
	if (__builtin_expect(usual ? index != usual : index == 0, 0))
		return cpuc_perf_slow(set);
	/* The base too: a handler that changes it retires the page. */
	sum = t->base + (uint64_t)CPUC_GET(page, offset);
	value = cpuc_sign_extend(reg(usual ? usual : index),
				 CPUC_GET(page, pmc_width));
	CPUC_FENCE();
	if (__builtin_expect(CPUC_GET(page, lock) != seq, 0))
		return cpuc_perf_slow(set);
	sum += value;
	t->last = sum;
	return (long long)sum;
}

/* Of cycles, and of instructions. */
static inline __attribute__((always_inline, unused)) long long
cpuc_perf_count(struct cpuc_event_set *set, cpuc_register *reg, uint32_t usual)
{
	return cpuc_perf_count_of(cpuc_perf_own, set, reg, usual);
}

static inline __attribute__((always_inline, unused)) long long
cpuc_perf_count_instructions(struct cpuc_event_set *set, cpuc_register *reg,
			     uint32_t usual)
{
	return cpuc_perf_count_of(cpuc_perf_instructions, set, reg, usual);
}

#endif
#endif
