/* SPDX-License-Identifier: 0BSD */
/* Pages of threads that have ended, where unmapping must wait until they have.
 *
 * Linux on RISC-V, when an event that is on a register is unmapped, keeps all
 * CPUs that run threads of the process from reading that register: the other
 * threads get SIGILL. Once the thread is gone, its event is on no register, and
 * its page has index 0. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "perf_own.h"

/* More than threads are likely to end before another one counts. */
#define PLACES 64

static struct {
	cpuc_page *page;         /* NULL: free; BUSY: somebody is at it */
	const uint32_t *process; /* where it is mapped */
} deferred[PLACES];

static const struct perf_event_mmap_page busy;
#define BUSY (&busy)

/* Takes the place if `page` is in it. */
static bool take(int i, cpuc_page *page)
{
	return __atomic_load_n(&deferred[i].page, __ATOMIC_RELAXED) == page &&
	       __atomic_compare_exchange_n(&deferred[i].page, &page, BUSY,
					   false, __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

static void leave(int i, cpuc_page *page)
{
	__atomic_store_n(&deferred[i].page, page, __ATOMIC_RELEASE);
}

void cpuc_perf_defer_unmap(cpuc_page *page, const uint32_t *process)
{
	int i = 0;

	while (i < PLACES && !take(i, NULL))
		i++;
	if (i == PLACES) {
		cpuc_perf_sys_unmap(page);
		return;
	}
	deferred[i].process = process;
	leave(i, page);
}

/* One at a time: a thread's first call shall be short. */
void cpuc_perf_unmap_deferred(void)
{
	cpuc_page *page;
	int i;

	for (i = 0; i < PLACES; i++) {
		page = __atomic_load_n(&deferred[i].page, __ATOMIC_RELAXED);
		if (page == NULL || page == BUSY || !take(i, page))
			continue;
		if (*(const volatile uint32_t *)deferred[i].process == 0) {
			/* A forked child has the table, not the pages. */
			leave(i, NULL);
		} else if (page->index != 0) {
			leave(i, page);
		} else {
			cpuc_perf_sys_unmap(page);
			leave(i, NULL);
			return;
		}
	}
}

#endif
