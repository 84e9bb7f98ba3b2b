/* SPDX-License-Identifier: 0BSD */
/* The count of a thread's perf events, where the inline reader gives up.
 *
 * Index 0 is rare but normal. The count must then be read by read(2), which
 * takes a descriptor: the events are replaced by new ones that keep theirs,
 * until the pages can be read again.
 *
 * A signal handler may interrupt this in its own thread and count. It reads the
 * descriptors if there are any; otherwise it gets the last result plus one. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include <errno.h>
#include "../clock.h"
#include "../first_call.h"
#include "read.h"

#define REMAP 64 /* reads by system calls until pages are tried again */

/* Adds up the pages. An event for the other type of core has index 0 and its
 * whole count in the offset. So one index that is not 0 is enough, and the sum
 * never goes back when the thread moves to another core, as no page's does. */
static bool perf_read_pages(const struct cpuc_perf_thread *t,
			    const struct cpuc_pmu *pmu, uint64_t *sum)
{
	cpuc_page *page[2] = {t->page[0], t->page[1]};
	uint64_t count;
	uint32_t any = 0;
	unsigned i;

	CPUC_FENCE();
	*sum = t->base;
	for (i = 0; pmu->reg != NULL && i < pmu->events; i++) {
		/* There are at most two events.
		 * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
		any |= cpuc_page_read(page[i], pmu->reg, &count);
		*sum += count;
	}
	CPUC_FENCE();
	/* A handler may have replaced the pages, at other addresses. */
	return any != 0 && t->page[0] == page[0];
}

/* Adds up the descriptors. The application may have closed one and reused its
 * number, so the kernel is asked for its id before every read: no byte of
 * another file may be consumed. */
static bool perf_read_events(const struct cpuc_perf_thread *t,
			     const struct cpuc_pmu *pmu, uint64_t *sum)
{
	uint64_t count;
	unsigned i;

	*sum = t->base;
	for (i = 0; i < pmu->events; i++) {
		const struct cpuc_perf_event *event = &t->event[i];

		if (event->id == 0 || cpuc_event_id(event->fd) != event->id ||
		    !cpuc_event_read(event->fd, &count))
			return false;
		*sum += count;
	}
	return true;
}

static void perf_read_drop(struct cpuc_perf_thread *t)
{
	uint64_t pages = 0, events = 0;

	if (cpuc_perf_thread_has(t, t->pmu) &&
	    !perf_read_pages(t, t->pmu, &pages))
		perf_read_events(t, t->pmu, &events);
	if (pages < events)
		pages = events;
	if (t->last < pages)
		t->last = pages;
	cpuc_perf_thread_drop(t, false);
}

/* This thread cannot have events: descriptors have run out, or permission was
 * withdrawn. Only time is left to count. */
static uint64_t perf_read_clock(struct cpuc_perf_thread *t)
{
	uint64_t now = cpuc_clock_ns(), sum = t->last;

	if (t->clock != 0 && now > t->clock)
		sum += now - t->clock;
	t->clock = now;
	return sum;
}

static uint64_t perf_read_slow(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu)
{
	bool kept = pmu->reg == NULL;
	uint64_t sum;
	int tries;

	for (tries = 0; tries < 2; tries++) {
		if (!cpuc_perf_thread_has(t, pmu)) {
			perf_read_drop(t);
			if (!cpuc_perf_thread_open(t, pmu, kept))
				break;
			t->clock = 0;
		}
		if (perf_read_pages(t, pmu, &sum))
			return sum;
		/* A page in doubt is left alone for a while. */
		if (t->event[0].id != 0 && t->reads++ == 0)
			cpuc_perf_thread_unmap(t, false);
		else if (pmu->reg != NULL && t->reads > REMAP &&
			 cpuc_perf_thread_remap(t) &&
			 perf_read_pages(t, pmu, &sum))
			return sum;
		if (perf_read_events(t, pmu, &sum))
			return sum;
		perf_read_drop(t);
		kept = true;
	}
	return perf_read_clock(t);
}

static uint64_t perf_read(struct cpuc_pmu *pmu)
{
	struct cpuc_perf_thread *t;
	uint64_t sum;
	bool has;

	if (__atomic_load_n(&pmu->opened, __ATOMIC_ACQUIRE) == 0)
		return (uint64_t)cpuc_first();
	t = cpuc_perf_thread_state();
	if (t == NULL)
		return cpuc_clock_ns();
	has = cpuc_perf_thread_has(t, pmu);
	if (has && perf_read_pages(t, pmu, &sum))
		return t->last = sum;
	if (!cpuc_perf_thread_enter(t)) {
		if (!has || !perf_read_events(t, pmu, &sum))
			sum = t->last + 1;
		return t->last = sum;
	}
	t->last = sum = perf_read_slow(t, pmu);
	cpuc_perf_thread_leave(t);
	return sum;
}

long long cpuc_perf_slow(struct cpuc_pmu *pmu)
{
	int saved = errno;
	uint64_t sum = perf_read(pmu);

	errno = saved;
	return (long long)sum;
}

bool cpuc_perf_readable(const struct cpuc_pmu *pmu)
{
	const struct cpuc_perf_thread *t = cpuc_perf_own;
	uint64_t sum;

	return cpuc_perf_thread_has(t, pmu) && perf_read_pages(t, pmu, &sum);
}

void cpuc_perf_drop(const struct cpuc_pmu *pmu)
{
	struct cpuc_perf_thread *t = cpuc_perf_own;
	int saved = errno;

	if (t->pmu != NULL && (pmu == NULL || t->pmu == pmu))
		perf_read_drop(t);
	errno = saved;
}

#endif
