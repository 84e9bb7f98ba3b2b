/* SPDX-License-Identifier: 0BSD */
/* perf_defer.c: pages of ended threads are unmapped once, when their event is
 * on no register any more, and never in a child, which has not got them. */
#include <config.h>
#include "tap.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
int main(void)
{
	skip_all("there is no <linux/perf_event.h>");
}
#else

#include "../src/perf_own.h"

#define PAGES 70 /* more than there are places */

static struct perf_event_mmap_page pages[PAGES];
static unsigned unmapped[PAGES];

/* The engine's call, in place of the system's. */
void cpuc_perf_sys_unmap(cpuc_page *page)
{
	unmapped[page - pages]++;
}

static unsigned sum(void)
{
	unsigned i, n = 0;

	for (i = 0; i < PAGES; i++)
		n += unmapped[i];
	return n;
}

int main(void)
{
	static uint32_t process = 100;
	unsigned i;

	cpuc_perf_unmap_deferred();
	ok(sum() == 0, "with nothing deferred, nothing is unmapped");

	pages[0].index = 1;
	cpuc_perf_defer_unmap(&pages[0], &process);
	cpuc_perf_defer_unmap(&pages[1], &process);
	cpuc_perf_defer_unmap(&pages[2], &process);
	ok(sum() == 0, "deferring unmaps nothing");
	cpuc_perf_unmap_deferred();
	ok(sum() == 1 && unmapped[0] == 0,
	   "one at a time, and not one whose event is on a register");
	cpuc_perf_unmap_deferred();
	cpuc_perf_unmap_deferred();
	ok(unmapped[0] == 0 && unmapped[1] == 1 && unmapped[2] == 1,
	   "the others once each");
	pages[0].index = 0;
	cpuc_perf_unmap_deferred();
	cpuc_perf_unmap_deferred();
	ok(sum() == 3 && unmapped[0] == 1, "it too, when it is off");

	for (i = 3; i < PAGES - 1; i++)
		cpuc_perf_defer_unmap(&pages[i], &process);
	ok(sum() > 3 && unmapped[PAGES - 2] == 1 && unmapped[3] == 0,
	   "without a place a page is unmapped at once");
	i = sum();
	process = 0; /* as the kernel does in a child */
	cpuc_perf_unmap_deferred();
	process = 101;
	cpuc_perf_unmap_deferred();
	ok(sum() == i, "a child forgets its parent's pages");
	cpuc_perf_defer_unmap(&pages[PAGES - 1], &process);
	ok(sum() == i, "and has their places");
	return done_testing();
}

#endif
