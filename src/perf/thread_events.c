/* SPDX-License-Identifier: 0BSD */
/* A thread's perf events.
 *
 * At its first call a thread opens its events, maps their pages and closes the
 * descriptors, so that the application cannot close and reuse them. A new event
 * begins at 0, so results continue from the last one: counts never go back in a
 * thread, nor from the parent of a fork to its child.
 *
 * A handler that interrupts a change sees no events: `quick` and `set` are set
 * last and cleared first. One that drops the events under the inline reader
 * leaves zeros in the page's place, which have another lock. */
#include <config.h>
#include "../system/syscalls.h"
#include "../thread/marks.h"
#include "../thread/memory.h"
#include "thread_events.h"

static const uint32_t zero;
struct cpuc_perf_thread cpuc_perf_no_memory[CPUC_STATES] = {{.quick = &zero},
							    {.quick = &zero}};
struct cpuc_perf_thread cpuc_perf_nobody[CPUC_STATES] = {{.quick = &zero},
							 {.quick = &zero}};

CPUC_TLS struct cpuc_perf_thread *cpuc_perf_own = cpuc_perf_nobody;

/* When an event that is on a register is unmapped, Linux on RISC-V (6.12)
 * forbids the register to all CPUs that run the process until they switch
 * tasks: other threads get SIGILL. So the page is kept until its index is 0. */
static void thread_events_defer(cpuc_page *page)
{
	int i;

	for (i = 0; i < CPUC_PLACES; i++) {
		uintptr_t nothing = 0;

		/* A thread's last reads of the page, before another's unmap. */
		if (__atomic_compare_exchange_n(
			    &cpuc_process->place[i], &nothing, (uintptr_t)page,
			    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	cpuc_event_unmap(page);
}

/* One at a time, to keep a thread's first call short. */
static void thread_events_unmap_deferred(void)
{
	uintptr_t place;
	cpuc_page *page;
	int i;

	for (i = 0; i < CPUC_PLACES; i++) {
		place = __atomic_exchange_n(&cpuc_process->place[i], 0,
					    __ATOMIC_ACQUIRE);
		page = (cpuc_page *)place;
		if (page != NULL && page->index == 0) {
			cpuc_event_unmap(page);
			return;
		}
		if (page != NULL)
			thread_events_defer(page);
	}
}

/* At index 0 the event of a page that stays takes no register from others. */
static void thread_events_unmap(const struct cpuc_perf_thread *t,
				const struct cpuc_event_set *set,
				struct cpuc_perf_event *e, bool ending)
{
	bool keep = set->keep_page && e->page == t->page && e->page->index == 0;

	if (!ending && (keep || cpuc_event_blank(e->page, true)))
		e->old = e->page;
	else if (ending && set->defer_unmap)
		thread_events_defer(e->page);
	else
		cpuc_event_unmap(e->page);
}

void cpuc_perf_thread_drop(struct cpuc_perf_thread *t, bool ending)
{
	/* In a child, anything may be mapped there by now. */
	bool ours = cpuc_perf_thread_is_here(t);
	const struct cpuc_event_set *set = ours ? t->set : NULL;
	unsigned i;

	t->quick = &zero;
	/* Interrupted readers notice, even if the next page's lock is equal. */
	t->sum++;
	t->set = NULL;
	for (i = 0; i < CPUC_TYPES; i++) {
		struct cpuc_perf_event *e = &t->event[i];

		/* Not if the application has closed and reused it. */
		if (e->id != 0 && cpuc_event_id(e->fd) == e->id)
			cpuc_sys_close(e->fd);
		if (set != NULL && e->page != NULL)
			thread_events_unmap(t, set, e, ending);
		if (ours && ending)
			cpuc_event_unmap(e->old);
		if (!ours || ending)
			e->old = NULL;
		e->page = NULL;
		e->id = 0;
	}
}

struct cpuc_perf_thread *
cpuc_perf_thread_state(const struct cpuc_event_set *set,
		       void (*ended)(void *states, bool last))
{
	struct cpuc_perf_thread *states = cpuc_perf_own;

	if (states == cpuc_perf_nobody) {
		states = cpuc_thread_memory(sizeof cpuc_perf_nobody, ended);
		if (states != NULL)
			states[0].quick = states[1].quick = &zero;
		else
			states = cpuc_perf_no_memory;
		/* A handler's reader looks at `quick` through the pointer. */
		CPUC_FENCE();
		cpuc_perf_own = states;
	}
	return states == cpuc_perf_no_memory ? NULL : cpuc_perf_thread_own(set);
}

/* The first event's page is mapped last: if it is there, all are. A mapping
 * that fails may have removed the old page: others may map in the hole. */
static void thread_events_map(struct cpuc_perf_thread *t, unsigned events)
{
	unsigned i;

	for (i = events; i-- > 0;) {
		struct cpuc_perf_event *e = &t->event[i];

		e->page = cpuc_event_map(e->fd, e->old);
		if (e->page != NULL ||
		    (e->old != NULL && !cpuc_event_blank(e->old, false)))
			e->old = NULL;
		if (e->page == NULL)
			break;
	}
}

bool cpuc_perf_thread_open(struct cpuc_perf_thread *t,
			   struct cpuc_event_set *set, unsigned way)
{
	unsigned flags = __atomic_load_n(&set->opened, __ATOMIC_RELAXED) - 1;
	unsigned i;

	if (way != CPUC_MULTIPLEXED)
		flags |= CPUC_PINNED;
	for (i = 0; i < set->n; i++) {
		t->event[i].fd =
			cpuc_event_open(&set->event[i], set->config1, flags);
		if (t->event[i].fd >= 0)
			continue;
		while (i-- > 0)
			cpuc_sys_close(t->event[i].fd);
		return false;
	}
	if (set->defer_unmap)
		thread_events_unmap_deferred();
	if (way == CPUC_MAPPED)
		thread_events_map(t, set->n);
	for (i = 0; i < set->n; i++) {
		t->event[i].seen = 0;
		if (way != CPUC_MAPPED)
			t->event[i].id = cpuc_event_id(t->event[i].fd);
		if (t->event[i].id == 0)
			cpuc_sys_close(t->event[i].fd);
	}
	t->way = way;
	t->on = 0;
	t->reads = 0;
	t->mark = cpuc_process_mark();
	t->base = t->last;
	/* Who finds the set, in the handler of a fault, finds all of it. */
	CPUC_FENCE();
	t->set = set;
	return true;
}
