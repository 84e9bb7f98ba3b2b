/* SPDX-License-Identifier: 0BSD */
/* A thread's perf events.
 *
 * A thread opens its events at its first call, maps their pages and closes the
 * descriptors: a mapping is all that a read needs, and the application cannot
 * close and reuse a descriptor that is not there. A new event begins at 0, so
 * results continue from the last one; counts never go back in a thread, nor
 * from the parent of a fork to its child.
 *
 * A signal handler that interrupts these changes in its own thread leaves the
 * events alone (read.c). If it leaves by siglongjmp, the changes are never
 * finished; after a second, the next call takes over. Everything is therefore
 * removed from the state before it is unmapped or closed, so that nobody does
 * that twice. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "../clock.h"
#include "thread.h"

#define ABANDONED_NS 1000000000

static const uint32_t zero;
static const struct perf_event_mmap_page none; /* index 0 */
static const struct cpuc_perf_thread no_memory = {.quick = &zero};
static const struct cpuc_perf_thread nobody = {
	.quick = &zero,
	.page = {&none, &none},
};

CPUC_THREAD struct cpuc_perf_thread *cpuc_perf_own =
	(struct cpuc_perf_thread *)&nobody;

bool cpuc_perf_thread_enter(struct cpuc_perf_thread *t)
{
	uint64_t now = cpuc_clock_ns();

	if (t->busy && now - t->busy_since < ABANDONED_NS)
		return false;
	t->busy_since = now;
	CPUC_FENCE();
	t->busy = true;
	CPUC_FENCE();
	return true;
}

void cpuc_perf_thread_leave(struct cpuc_perf_thread *t)
{
	CPUC_FENCE();
	t->busy = false;
}

/* Not a descriptor that the application has closed and reused. */
static void perf_thread_close(struct cpuc_perf_event *event)
{
	struct cpuc_perf_event gone = *event;

	event->id = 0;
	CPUC_FENCE();
	if (gone.id != 0 && cpuc_event_id(gone.fd) == gone.id)
		cpuc_event_close(gone.fd);
}

/* When an event that is on a register is unmapped, Linux on RISC-V (6.12) keeps
 * all CPUs that run the process from reading that register until they switch
 * tasks: other threads get SIGILL. So the page of an ending thread waits until
 * its event is on no register, which shows as index 0. */
static void perf_thread_defer(cpuc_page *page)
{
	uintptr_t nothing;
	int i;

	for (i = 0; i < CPUC_PLACES; i++) {
		nothing = 0;
		if (__atomic_compare_exchange_n(
			    &cpuc_process->place[i], &nothing, (uintptr_t)page,
			    false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			return;
	}
	cpuc_event_unmap(page);
}

/* One at a time, to keep a thread's first call short. */
static void perf_thread_unmap_deferred(void)
{
	cpuc_page *page;
	int i;

	for (i = 0; i < CPUC_PLACES; i++) {
		page = (cpuc_page *)__atomic_exchange_n(&cpuc_process->place[i],
							0, __ATOMIC_ACQUIRE);
		if (page != NULL && page->index == 0) {
			cpuc_event_unmap(page);
			return;
		}
		if (page != NULL)
			perf_thread_defer(page);
	}
}

/* A handler that does this may have interrupted a reader in the middle of the
 * page. So zeros take the page's place until the next one is unmapped, and the
 * reader finds that `lock` has changed. At the thread's end, nothing stays. */
void cpuc_perf_thread_unmap(struct cpuc_perf_thread *t, bool ending)
{
	cpuc_page *page, *blank;
	unsigned i;

	t->quick = &zero;
	for (i = 0; i < 2; i++) {
		page = t->page[i];
		blank = t->blank[i];
		if (page == &none && !ending)
			continue;
		t->page[i] = &none;
		t->blank[i] = NULL;
		CPUC_FENCE();
		cpuc_event_unmap(blank);
		if (page == &none)
			continue;
		if (!ending && cpuc_event_blank(page))
			t->blank[i] = page;
		else if (ending && t->pmu->defer_unmap)
			perf_thread_defer(page);
		else
			cpuc_event_unmap(page);
	}
}

static cpuc_page *perf_thread_map(const struct cpuc_perf_event *event)
{
	cpuc_page *page = cpuc_event_map(event->fd);

	if (page != NULL && (page->index == 0 || page->cap_user_rdpmc))
		return page;
	cpuc_event_unmap(page);
	return &none;
}

/* Lets the inline reader use the page if there is only one. */
static void perf_thread_mapped(struct cpuc_perf_thread *t)
{
	t->reads = 0;
	CPUC_FENCE();
	if (t->pmu->events == 1 && t->page[0] != &none)
		t->quick = t->process;
}

/* Whether the event has been on its register long enough. An event that shares
 * its register loses it every few milliseconds, and on riscv64 a reader then
 * gets SIGILL if it was between the page's index and the register. */
static bool perf_thread_alone(struct cpuc_perf_thread *t, cpuc_page *page)
{
	uint64_t enabled = page->time_enabled;
	uint64_t off = enabled - page->time_running;

	if (off != t->off) {
		t->off = off;
		t->off_at = enabled;
	}
	return enabled - t->off_at >= 20000000;
}

bool cpuc_perf_thread_remap(struct cpuc_perf_thread *t)
{
	cpuc_page *page[2] = {&none, &none};
	unsigned i, n = t->pmu->events;
	bool readable = false;

	t->reads = 1;
	for (i = 0; i < n; i++) {
		page[i] = perf_thread_map(&t->event[i]);
		readable |= page[i]->index != 0;
	}
	/* Of two events for two types of cores, one is always off. */
	if (n == 1)
		readable = readable && perf_thread_alone(t, page[0]);
	for (i = 0; i < n; i++) {
		if (readable)
			t->page[i] = page[i];
		else if (page[i] != &none)
			cpuc_event_unmap(page[i]);
	}
	if (readable)
		perf_thread_mapped(t);
	return readable;
}

void cpuc_perf_thread_drop(struct cpuc_perf_thread *t, bool ending)
{
	/* In a child, anything may be mapped there by now. */
	if (!cpuc_perf_thread_has(t, t->pmu))
		t->page[0] = t->page[1] = &none;
	cpuc_perf_thread_unmap(t, ending);
	perf_thread_close(&t->event[0]);
	perf_thread_close(&t->event[1]);
	t->pmu = NULL;
}

/* Other destructors may count again, and thus open events. */
static void perf_thread_ended(void *state, bool last)
{
	struct cpuc_perf_thread *t = state;

	cpuc_perf_thread_enter(t);
	cpuc_perf_thread_drop(t, true);
	cpuc_perf_thread_leave(t);
	if (last && cpuc_perf_own == t)
		cpuc_perf_own = (struct cpuc_perf_thread *)&nobody;
}

struct cpuc_perf_thread *cpuc_perf_thread_state(void)
{
	struct cpuc_perf_thread *t;

	if (cpuc_perf_own == &nobody) {
		t = cpuc_thread_memory(sizeof *t, perf_thread_ended);
		if (t != NULL)
			*t = nobody;
		else
			t = (struct cpuc_perf_thread *)&no_memory;
		CPUC_FENCE();
		/* Unless a handler was faster. */
		if (cpuc_perf_own == &nobody)
			cpuc_perf_own = t;
	}
	return cpuc_perf_own == &no_memory ? NULL : cpuc_perf_own;
}

bool cpuc_perf_thread_open(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu,
			   bool kept)
{
	unsigned exclude = __atomic_load_n(&pmu->opened, __ATOMIC_RELAXED) - 1;
	unsigned i;
	int fd[2];

	for (i = 0; i < pmu->events; i++) {
		fd[i] = cpuc_event_open(pmu->config[i], pmu->config1, exclude);
		if (fd[i] >= 0)
			continue;
		while (i-- > 0)
			cpuc_event_close(fd[i]);
		return false;
	}
	if (pmu->defer_unmap)
		perf_thread_unmap_deferred();
	/* Not earlier: each handler's call makes `last` one more, and takes
	 * more than a cycle of the events that are open now. */
	t->base = t->last;
	t->off = t->off_at = 0;
	t->process = cpuc_process_word();
	CPUC_FENCE();
	t->pmu = pmu;
	for (i = 0; i < pmu->events; i++) {
		/* As many as were opened above.
		 * NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
		t->event[i].fd = fd[i];
		if (!kept)
			t->page[i] = perf_thread_map(&t->event[i]);
		if (kept || t->page[i] == &none)
			t->event[i].id = cpuc_event_id(fd[i]);
		if (t->event[i].id == 0)
			cpuc_event_close(fd[i]);
	}
	perf_thread_mapped(t);
	return true;
}

#endif
