/* SPDX-License-Identifier: 0BSD */
/* The count of a thread's perf events, where the inline reader gives up.
 *
 * Index 0 is rare but normal. Either users may not read the register, or the
 * event has none: then it is in error state for good, since it is pinned, and
 * stands still. New events are opened, in the first way that works, and the
 * better ways are tried again from time to time. Only events that are not
 * pinned can lose their register unnoticed, so these are never mapped.
 *
 * Events are replaced under the guard of thread/thread.h, but read without it,
 * since it takes two system calls. A signal handler that interrupts a reader
 * may replace them. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include <errno.h>
#include "../first_call.h"
#include "../system/os_clock.h"
#include "read.h"

/* Better ways are tried again after so many reads by system calls, and so many
 * ns after pages became unreadable. Handlers in a row may keep a reader in the
 * middle of a page all the while, and the next page to go takes the zeros from
 * under it. */
#define AGAIN 64
#define AGAIN_NS 20000000

/* The base is read before the events: a handler that replaces these adds their
 * count to it, and `last` has the counts that the sum then lacks. It is read
 * twice, as a handler may come between its halves. */
static uint64_t perf_read_base(const struct cpuc_perf_thread *t)
{
	uint64_t base, again;

	do {
		base = t->base;
		CPUC_FENCE();
		again = t->base;
		CPUC_FENCE();
	} while (base != again);
	return base;
}

/* Adds up the pages. An event for another type of core has index 0 and its
 * whole count in the offset. So one index that is not 0 is enough. When the
 * thread moves to another core, no page's count goes back, nor does the sum. */
static bool perf_read_pages(struct cpuc_perf_thread *t,
			    const struct cpuc_event_set *set, uint64_t *sum)
{
	const bool reading = t->reading;
	uint64_t count;
	uint32_t any = 0;
	unsigned i;

	/* No page is used if the first one is missing. */
	if (set->reg == NULL || t->event[0].page == &cpuc_no_page)
		return false;
	t->reading = true;
	CPUC_FENCE();
	*sum = perf_read_base(t);
	for (i = 0; i < set->n; i++) {
		any |= cpuc_page_read(t->event[i].page, set->reg, &count);
		*sum += count;
	}
	CPUC_FENCE();
	t->reading = reading;
	return any != 0;
}

/* Adds up the descriptors. The application may have closed one and reused its
 * number, so the kernel is asked for its id before every read: no byte of
 * another file may be consumed. */
static bool perf_read_events(const struct cpuc_perf_thread *t,
			     const struct cpuc_event_set *set, uint64_t *sum)
{
	uint64_t count;
	unsigned i;

	*sum = perf_read_base(t);
	for (i = 0; i < set->n; i++) {
		const struct cpuc_perf_event *event = &t->event[i];

		if (event->id == 0 || cpuc_event_id(event->fd) != event->id ||
		    !cpuc_event_read(event->fd, &count))
			return false;
		*sum += count;
	}
	return true;
}

/* Handlers in the midst of a change, which count from `last`, may have left it
 * higher than a count that stands still. */
static uint64_t perf_read_result(struct cpuc_perf_thread *t, uint64_t sum)
{
	if (t->last < sum)
		t->last = sum;
	return t->last;
}

static void perf_read_drop(struct cpuc_perf_thread *t, enum cpuc_perf_drop why)
{
	uint64_t sum = 0;

	if (cpuc_perf_thread_has(t, t->set) &&
	    !perf_read_pages(t, t->set, &sum) && t->way != CPUC_MAPPED)
		perf_read_events(t, t->set, &sum);
	perf_read_result(t, sum);
	cpuc_perf_thread_drop(t, why);
}

/* This thread cannot have events: descriptors or memory have run out, or
 * permission was withdrawn. In place of cycles only time is left to count, and
 * nothing in place of instructions. */
static uint64_t perf_read_clock(struct cpuc_perf_thread *t,
				const struct cpuc_event_set *set)
{
	uint64_t now = cpuc_os_clock_ns(), sum = t->last;

	if (set->counts == PERF_COUNT_HW_INSTRUCTIONS)
		return sum;
	if (t == &cpuc_perf_no_memory)
		return now;
	if (t->clock != 0 && now > t->clock)
		sum += now - t->clock;
	t->clock = now;
	return sum;
}

static unsigned perf_read_best(const struct cpuc_event_set *set)
{
	return set->reg != NULL ? CPUC_MAPPED : CPUC_KEPT;
}

/* Whether the events can be read as they are, and no better way is due. */
static bool perf_read_as_is(struct cpuc_perf_thread *t,
			    const struct cpuc_event_set *set, uint64_t *sum)
{
	if (!cpuc_perf_thread_has(t, set))
		return false;
	if (perf_read_pages(t, set, sum))
		return true;
	if (t->way == CPUC_MAPPED ||
	    (t->way != perf_read_best(set) && t->reads++ >= AGAIN &&
	     cpuc_os_clock_ns() - t->unreadable >= AGAIN_NS))
		return false;
	return perf_read_events(t, set, sum);
}

static uint64_t perf_read_slow(struct cpuc_perf_thread *t,
			       struct cpuc_event_set *set)
{
	unsigned way = perf_read_best(set);
	uint64_t sum;

	/* The second try: a handler may have replaced the events, or the thread
	 * may have moved to another core between two pages. */
	if (perf_read_as_is(t, set, &sum))
		return sum;
	if (cpuc_perf_thread_has(t, set) && t->way == CPUC_MAPPED)
		t->unreadable = cpuc_os_clock_ns();
	perf_read_drop(t, CPUC_OLD);
	if (cpuc_os_clock_ns() - t->unreadable < AGAIN_NS)
		way = CPUC_KEPT;
	for (; way <= CPUC_SHARED; way++) {
		if (cpuc_perf_thread_open(t, set, way) &&
		    (way == CPUC_MAPPED ? perf_read_pages(t, set, &sum)
					: perf_read_events(t, set, &sum))) {
			if (way == CPUC_MAPPED && set->n == 1)
				t->quick = t->process;
			t->clock = 0;
			return sum;
		}
		perf_read_drop(t, CPUC_NEW);
	}
	return perf_read_clock(t, set);
}

static uint64_t perf_read_guarded(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = *cpuc_perf_thread_own(set);
	struct cpuc_guard guard;
	uint64_t sum = 0;

	if (t != &cpuc_perf_no_memory) {
		/* This is the midst of a change. The state of nobody is
		 * constant. */
		if (!cpuc_guard_enter(&guard))
			return t == &cpuc_perf_nobody ? 1 : ++t->last;
		t = cpuc_perf_thread_state(set);
		if (t != &cpuc_perf_no_memory)
			sum = perf_read_result(t, perf_read_slow(t, set));
		cpuc_guard_leave(&guard);
	}
	return t == &cpuc_perf_no_memory ? perf_read_clock(t, set) : sum;
}

static uint64_t perf_read(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = *cpuc_perf_thread_own(set);
	uint64_t sum;

	if (__atomic_load_n(&set->opened, __ATOMIC_ACQUIRE) == 0)
		return (uint64_t)(set->counts == PERF_COUNT_HW_INSTRUCTIONS
					  ? cpuc_first_instructions()
					  : cpuc_first());
	if (perf_read_as_is(t, set, &sum))
		return perf_read_result(t, sum);
	return perf_read_guarded(set);
}

long long cpuc_perf_slow(struct cpuc_event_set *set)
{
	int saved = errno;
	uint64_t sum = perf_read(set);

	errno = saved;
	return (long long)sum;
}

bool cpuc_perf_readable(const struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = *cpuc_perf_thread_own(set);
	uint64_t sum;

	return cpuc_perf_thread_has(t, set) && perf_read_pages(t, set, &sum);
}

void cpuc_perf_make_room(const struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = *cpuc_perf_thread_own(set);
	struct cpuc_guard guard;
	int saved = errno;

	if (t->set != NULL && cpuc_guard_enter(&guard)) {
		perf_read_drop(t, CPUC_OLD);
		cpuc_guard_leave(&guard);
	}
	errno = saved;
}

void cpuc_perf_drop(const struct cpuc_event_set *set)
{
	if ((*cpuc_perf_thread_own(set))->set == set)
		cpuc_perf_make_room(set);
}

#endif
