/* SPDX-License-Identifier: 0BSD */
/* The count by a thread's perf events, where reading one page does not do.
 *
 * Index 0, in normal life rare, asks for read(2) and thus for a descriptor: the
 * events are then replaced by new ones that keep theirs, until a page says that
 * it may be read again.
 *
 * A signal handler may come in at any time. While `busy` is set, and in a
 * vfork child, which is another task in its parent's memory and must leave the
 * parent's events alone, a visitor counts: with descriptors of its own. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include <errno.h>
#include "clock.h"
#include "first_call.h"
#include "perf_own.h"

#define REMAP 64 /* reads by system calls until pages get another chance */

/* An event that is not of this core's type has index 0 and its whole count in
 * the offset; so one index that is not 0 will do, and as no page's count goes
 * back, neither does the sum, whenever the thread moves to another core. */
bool cpuc_perf_read_pages(const struct cpuc_perf_thread *t, uint64_t *sum)
{
	cpuc_page *page[2] = {t->page[0], t->page[1]};
	uint64_t count;
	uint32_t any = 0;
	unsigned i;

	CPUC_FENCE();
	*sum = t->base;
	for (i = 0; t->pmu->reg != NULL && i < t->pmu->events; i++) {
		/* There are at most two events.
		 * NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
		any |= cpuc_page_read(page[i], t->pmu->reg, &count);
		*sum += count;
	}
	CPUC_FENCE();
	/* A handler may have replaced them, and then elsewhere. */
	return any != 0 && t->page[0] == page[0];
}

/* Before each read the kernel is asked whether the descriptor still is that
 * event: the application may have closed it, and from what has its number now
 * not a byte must be taken. */
bool cpuc_perf_read_events(const struct cpuc_perf_event *event, unsigned events,
			   uint64_t *sum)
{
	uint64_t count;
	unsigned i;

	for (i = 0; i < events; i++) {
		if (event[i].id == 0 ||
		    cpuc_perf_sys_id(event[i].fd) != event[i].id ||
		    !cpuc_perf_sys_read(event[i].fd, &count))
			return false;
		*sum += count;
	}
	return true;
}

/* This thread cannot have events: descriptors have run out, or permission was
 * withdrawn. Time is what is left to count. */
static uint64_t by_clock(struct cpuc_perf_thread *t)
{
	uint64_t now = cpuc_clock_ns();

	if (t->clock != 0 && now > t->clock)
		t->last += now - t->clock;
	t->clock = now;
	return t->last;
}

static uint64_t count_own(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu,
			  unsigned exclude, uint32_t pid)
{
	bool kept = pmu->reg == NULL;
	uint64_t sum;
	int tries;

	for (tries = 0; tries < 2; tries++) {
		if (!cpuc_own_has(t, pmu)) {
			cpuc_own_drop(t);
			if (!cpuc_own_open(t, pmu, exclude, pid, kept))
				return by_clock(t);
			t->clock = 0;
		}
		if (cpuc_perf_read_pages(t, &sum))
			return sum;
		/* Once in doubt, a page is left alone for a while. */
		if (t->event[0].id != 0 && t->reads++ == 0)
			cpuc_own_unmap(t);
		else if (t->reads > REMAP && cpuc_own_remap(t) &&
			 cpuc_perf_read_pages(t, &sum))
			return sum;
		sum = t->base;
		if (cpuc_perf_read_events(t->event, pmu->events, &sum))
			return sum;
		cpuc_own_drop(t);
		kept = true;
	}
	return by_clock(t);
}

static uint64_t count_visitor(struct cpuc_perf_thread *t,
			      const struct cpuc_pmu *pmu, unsigned exclude,
			      uint32_t pid)
{
	struct cpuc_perf_visitor *v = &t->visitor;
	uint64_t sum = v->base;
	unsigned i;
	int fd;

	if (v->pid == CPUC_OPENING)
		return t->last + 1;
	if (v->pid == pid && cpuc_perf_read_events(v->event, pmu->events, &sum))
		return sum;
	if (v->pid != pid)
		v->event[0].id = v->event[1].id = 0;
	v->pid = CPUC_OPENING;
	CPUC_FENCE();
	cpuc_perf_close_events(v->event);
	v->base = t->last;
	for (i = 0; i < pmu->events; i++) {
		fd = cpuc_perf_sys_open(pmu->config[i], pmu->config1, exclude);
		v->event[i].fd = fd;
		v->event[i].id = fd < 0 ? 0 : cpuc_perf_sys_id(fd);
	}
	CPUC_FENCE();
	v->pid = pid;
	sum = v->base;
	return cpuc_perf_read_events(v->event, pmu->events, &sum)
		       ? sum
		       : t->last + 1;
}

void cpuc_perf_leave(struct cpuc_perf_thread *t, uint32_t pid)
{
	if (pid != 0 && t->visitor.pid == pid) {
		/* The next handler may be here before these are closed. */
		struct cpuc_perf_event gone[2] = {t->visitor.event[0],
						  t->visitor.event[1]};

		CPUC_FENCE();
		t->visitor.pid = 0;
		CPUC_FENCE();
		cpuc_perf_close_events(gone);
	}
	CPUC_FENCE();
	t->busy = 0;
}

static uint64_t count(struct cpuc_perf_thread *t, struct cpuc_pmu *pmu)
{
	unsigned opened = __atomic_load_n(&pmu->opened, __ATOMIC_ACQUIRE);
	uint64_t sum;
	uint32_t pid;

	/* What the selection has settled is not yet visible to this thread. */
	if (opened == 0)
		return (uint64_t)cpuc_first();
	if (cpuc_own_has(t, pmu) && cpuc_perf_read_pages(t, &sum))
		return t->last = sum;
	pid = cpuc_perf_sys_pid();
	if (*cpuc_process_word(pid) != pid)
		return count_visitor(t, pmu, opened - 1, pid);
	if (t->busy)
		return t->last = count_visitor(t, pmu, opened - 1, pid);
	t->busy = 1;
	CPUC_FENCE();
	t->last = sum = count_own(t, pmu, opened - 1, pid);
	cpuc_perf_leave(t, pid);
	return sum;
}

long long cpuc_perf_slow(struct cpuc_pmu *pmu)
{
	int saved = errno;
	uint64_t sum = count(&cpuc_perf_own, pmu);

	errno = saved;
	return (long long)sum;
}

bool cpuc_perf_readable(const struct cpuc_pmu *pmu)
{
	uint64_t sum;

	return cpuc_own_has(&cpuc_perf_own, pmu) &&
	       cpuc_perf_read_pages(&cpuc_perf_own, &sum);
}

void cpuc_perf_drop(const struct cpuc_pmu *pmu)
{
	int saved = errno;

	if (pmu == NULL || cpuc_perf_own.pmu == pmu)
		cpuc_own_drop(&cpuc_perf_own);
	errno = saved;
}

#endif
