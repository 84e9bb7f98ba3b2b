/* SPDX-License-Identifier: 0BSD */
/* How a thread comes by its perf events, and how it loses them.
 *
 * It opens them at its first call and maps their pages; the descriptors are
 * then closed, as a mapping is all that a read needs, and what is not there no
 * application can close and reuse. A new event begins at 0, so results go on
 * from the last one; no count goes back in a thread, nor from the parent of a
 * fork to its child. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "perf_own.h"

static const uint32_t zero;
static const struct perf_event_mmap_page none; /* index 0 */

CPUC_THREAD struct cpuc_perf_thread cpuc_perf_own = {
	.quick = &zero,
	.page = {&none, &none},
};

void cpuc_perf_close_events(struct cpuc_perf_event *event)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		if (event[i].id != 0 &&
		    cpuc_perf_sys_id(event[i].fd) == event[i].id)
			cpuc_perf_sys_close(event[i].fd);
		event[i].id = 0;
	}
}

/* Ends a mapping. The reader that this code has interrupted, if it runs in a
 * handler, may be in the middle of that very page: zeros take its place, whose
 * `lock` is not what that reader began with, until the next one is retired.
 * That is far off: see alone(). */
static void retire(struct cpuc_perf_thread *t, unsigned i)
{
	cpuc_page *old = t->page[i];

	t->quick = &zero;
	t->page[i] = &none;
	CPUC_FENCE();
	if (old == &none)
		return;
	if (t->blank[i] != NULL)
		cpuc_perf_sys_unmap(t->blank[i]);
	t->blank[i] = old;
	if (!cpuc_perf_sys_blank(old)) {
		cpuc_perf_sys_unmap(old);
		t->blank[i] = NULL;
	}
}

static cpuc_page *map(const struct cpuc_perf_event *event)
{
	cpuc_page *page = cpuc_perf_sys_map(event->fd);

	if (page == NULL)
		return &none;
	if (page->index == 0 || page->cap_user_rdpmc)
		return page;
	cpuc_perf_sys_unmap(page);
	return &none;
}

/* Lets the inline reader at the page, if that is all there is to do. */
static void hasten(struct cpuc_perf_thread *t)
{
	t->reads = 0;
	CPUC_FENCE();
	if (t->pmu->events == 1 && t->page[0] != &none)
		t->quick = t->process;
}

void cpuc_own_unmap(struct cpuc_perf_thread *t)
{
	unsigned i;

	for (i = 0; i < 2; i++)
		retire(t, i);
}

/* An event that has to share its register loses it every few milliseconds, and
 * on riscv64 a reader that it is taken from between two instructions gets
 * SIGILL. So a page is trusted again only when its event was on its register
 * for so long that it does not share. */
#define ALONE_NS 20000000

static bool alone(struct cpuc_perf_thread *t, cpuc_page *page)
{
	uint64_t enabled = page->time_enabled;
	uint64_t off = enabled - page->time_running;

	if (off != t->off) {
		t->off = off;
		t->off_at = enabled;
	}
	return enabled - t->off_at >= ALONE_NS;
}

bool cpuc_own_remap(struct cpuc_perf_thread *t)
{
	cpuc_page *page[2] = {&none, &none};
	unsigned i, n = t->pmu->events;
	bool readable = false;

	t->reads = 1;
	for (i = 0; i < n; i++) {
		page[i] = map(&t->event[i]);
		readable |= page[i]->index != 0;
	}
	/* Of two types of cores, one is always off. */
	if (n == 1 && readable)
		readable = alone(t, page[0]);
	for (i = 0; i < n; i++) {
		if (readable)
			t->page[i] = page[i];
		else if (page[i] != &none)
			cpuc_perf_sys_unmap(page[i]);
	}
	if (readable)
		hasten(t);
	return readable;
}

static void note(struct cpuc_perf_thread *t, uint64_t sum)
{
	if (sum > t->last)
		t->last = sum;
}

void cpuc_own_drop(struct cpuc_perf_thread *t)
{
	bool own = cpuc_own_has(t, t->pmu);
	uint64_t sum;
	unsigned i;

	if (own && !cpuc_perf_read_pages(t, &sum)) {
		note(t, sum);
		sum = t->base;
		cpuc_perf_read_events(t->event, t->pmu->events, &sum);
	}
	if (own)
		note(t, sum);
	/* In a child, something else may be there by now. */
	for (i = 0; i < 2 && !own; i++)
		t->page[i] = &none;
	cpuc_own_unmap(t);
	cpuc_perf_close_events(t->event);
	t->pmu = NULL;
}

/* The thread ends. Other destructors may yet call, and so begin anew. */
static void ended(void *state)
{
	struct cpuc_perf_thread *t = state;
	bool own = cpuc_own_has(t, t->pmu);
	cpuc_page *page;
	unsigned i;

	t->busy = 1;
	t->quick = &zero;
	for (i = 0; i < 2; i++) {
		page = t->page[i];
		t->page[i] = &none;
		CPUC_FENCE();
		if (own && page != &none && t->pmu->defer_unmap)
			cpuc_perf_defer_unmap(page, t->process);
		else if (own && page != &none)
			cpuc_perf_sys_unmap(page);
		if (t->blank[i] != NULL)
			cpuc_perf_sys_unmap(t->blank[i]);
		t->blank[i] = NULL;
	}
	cpuc_perf_close_events(t->event);
	t->pmu = NULL;
	cpuc_perf_leave(t, t->visitor.pid ? cpuc_perf_sys_pid() : 0);
}

bool cpuc_own_open(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu,
		   unsigned exclude, uint32_t pid, bool kept)
{
	unsigned i;
	int fd[2];

	if (cpuc_thread_watch(ended, t) != 0)
		return false;
	for (i = 0; i < pmu->events; i++) {
		fd[i] = cpuc_perf_sys_open(pmu->config[i], pmu->config1,
					   exclude);
		if (fd[i] >= 0)
			continue;
		while (i-- > 0)
			cpuc_perf_sys_close(fd[i]);
		return false;
	}
	if (pmu->defer_unmap)
		cpuc_perf_unmap_deferred();
	/* Not before: a visitor that is gone has moved `last`, and what one
	 * that comes from here on counts, the events count too. */
	t->base = t->last;
	t->off = t->off_at = 0;
	t->process = cpuc_process_word(pid);
	CPUC_FENCE();
	t->pmu = pmu;
	for (i = 0; i < pmu->events; i++) {
		/* No more than were opened above.
		 * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
		t->event[i].fd = fd[i];
		if (pmu->reg != NULL && !kept)
			t->page[i] = map(&t->event[i]);
		if (kept || t->page[i] == &none)
			t->event[i].id = cpuc_perf_sys_id(fd[i]);
		if (t->event[i].id == 0)
			cpuc_perf_sys_close(fd[i]);
	}
	hasten(t);
	return true;
}

#endif
