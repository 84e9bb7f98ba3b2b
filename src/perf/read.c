/* SPDX-License-Identifier: 0BSD */
/* The count where the inline reader gives up, as once after each switch: the
 * pages are read, in the guard.
 *
 * At index 0 users may not read the register, or the event has none and, being
 * pinned, stands still from then on. New ones are opened in the first way that
 * works; better ways are tried again. Events that are not pinned are not
 * mapped: they can lose their register unnoticed.
 *
 * Descriptors are read without the guard, to save two system calls, so a signal
 * handler may replace the events meanwhile. */
#include <config.h>
#include <errno.h>
#include "../slot.h"
#include "../system/os_clock.h"
#include "../system/syscalls.h"
#include "read.h"

/* Reads by system calls, and ns since pages became unreadable, after which
 * better ways are tried again. */
#define RETRY_READS 64
#define RETRY_NS 20000000

/* Only a debugger's single steps switch a thread more often than this. */
#define PAGES_TRIES 3

/* Reads the pages, and fills in what the inline reader needs. An event for
 * another type of core has index 0 and its whole count in the offset. If the
 * thread is switched meanwhile, the lock changes, or no event is seen on a
 * register. False: none is on one; *sum is the count when the last was. */
static bool read_pages(struct cpuc_perf_thread *t,
		       const struct cpuc_event_set *set, uint64_t *sum)
{
	cpuc_page *page;
	uint64_t offsets;
	uint32_t lock, index;
	unsigned i, unused, tries, on;
	bool filled = false;

	/* No page is used if the first one is missing. */
	if (t->way != CPUC_MAPPED || t->event[0].page == NULL)
		return false;
	for (tries = 0; tries < PAGES_TRIES && !filled; tries++) {
		on = 0;
		for (i = 1; i < set->n; i++)
			if (CPUC_GET(t->event[i].page, index) != 0)
				on = i;
		page = t->event[on].page;
		lock = CPUC_GET(page, lock);
		/* The kernel adds to the lock before and after it changes the
		 * rest, which is volatile and read in this order;
		 * cpuc_perf_quick() compares it after the register. */
		index = CPUC_GET(page, index);
		unused = 64u - CPUC_GET(page, pmc_width);
		offsets = t->base;
		for (i = 0; i < set->n; i++)
			offsets += (uint64_t)CPUC_GET(t->event[i].page, offset);
		if (index == 0) {
			/* Unless it has got one meanwhile. */
			if (CPUC_GET(page, lock) == lock)
				*sum = offsets;
		} else if (CPUC_GET(page, cap_user_rdpmc)) {
			t->sum = offsets;
			t->unused = unused;
			t->on = 1u << on;
			t->index = index;
			/* A fault's handler that counts in between finds the
			 * old page, whose lock has changed, or with the new one
			 * all that belongs to it; the lock and `quick` last. */
			CPUC_FENCE();
			t->page = page;
			CPUC_FENCE();
			t->quick = t->mark;
			t->lock = lock;
			/* Where the read faults, it was the last one. */
			t->way = CPUC_FAULTED;
			filled = cpuc_perf_quick(t, set->reg, sum);
			t->way = CPUC_MAPPED;
		}
	}
	return filled;
}

/* Adds up the descriptors. The application may have closed and reused one, so
 * the kernel is asked for its id first: no byte of another file is consumed.
 * For cycles that a shared event misses ns stand in, so that no count stands
 * still; not where the event of another type of core counts them. */
static bool read_descriptors(struct cpuc_perf_thread *t,
			     const struct cpuc_event_set *set, uint64_t *sum)
{
	const uint64_t id = t->event[0].id;
	struct cpuc_event_count c;
	uint64_t missed = 0, ran = 0;
	unsigned i, on = 0;

	*sum = t->base;
	for (i = 0; i < set->n; i++) {
		const struct cpuc_perf_event event = t->event[i];

		/* A pinned event in error state reads as end of file. */
		if (event.id == 0 || cpuc_event_id(event.fd) != event.id ||
		    cpuc_sys_read(event.fd, &c, sizeof c) != sizeof c)
			return false;
		*sum += c.count;
		ran += c.running;
		if (missed < c.enabled)
			missed = c.enabled;
		on |= (c.running != event.seen ? 1u : 0u) << i;
		t->event[i].seen = c.running;
	}
	/* No event runs while another one does: at most `missed`. */
	if (t->way == CPUC_MULTIPLEXED &&
	    set->counts == PERF_COUNT_HW_CPU_CYCLES)
		*sum += missed - ran;
	t->on = on;
	/* After all reads: a handler may have replaced them meanwhile, by
	 * cpuc_perf_thread_open(). */
	CPUC_FENCE();
	return t->event[0].id == id;
}

/* Never below `last`, from which a signal handler during a change counts up. */
static uint64_t read_result(struct cpuc_perf_thread *t, uint64_t sum)
{
	if (t->last < sum)
		t->last = sum;
	return t->last;
}

void cpuc_perf_drop(struct cpuc_perf_thread *t, bool ending)
{
	uint64_t sum = t->last;

	if (cpuc_perf_thread_has(t, t->set) && !read_pages(t, t->set, &sum) &&
	    t->way != CPUC_MAPPED)
		read_descriptors(t, t->set, &sum);
	read_result(t, sum);
	cpuc_perf_thread_drop(t, ending);
}

/* Unless it is the last time, other destructors may count, and open events. */
static void read_ended(void *states, bool last)
{
	struct cpuc_perf_thread *t = states;
	struct cpuc_guard guard;
	/* False if a handler in the midst of a change ends the thread. */
	const bool entered = cpuc_guard_enter(&guard);
	int i;

	for (i = 0; i < CPUC_STATES; i++)
		cpuc_perf_drop(&t[i], true);
	if (last)
		cpuc_perf_own = cpuc_perf_nobody;
	if (entered)
		cpuc_guard_leave(&guard);
}

/* Without events, as descriptors or memory (then `t` is NULL) have run out, or
 * permission, time stands in for cycles, and nothing for instructions. */
static uint64_t read_time_instead(struct cpuc_perf_thread *t,
				  const struct cpuc_event_set *set)
{
	uint64_t now = cpuc_os_clock_ns(), sum = t != NULL ? t->last : 0;

	if (set->counts == PERF_COUNT_HW_INSTRUCTIONS)
		return sum;
	if (t == NULL)
		return now;
	if (t->clock != 0 && now > t->clock)
		sum += now - t->clock;
	t->clock = now;
	return sum;
}

/* Reads the descriptors, unless there are none or a better way is due. */
static bool read_kept(struct cpuc_perf_thread *t,
		      const struct cpuc_event_set *set, uint64_t *sum)
{
	if (!cpuc_perf_thread_has(t, set))
		return false;
	if ((set->reg != NULL || t->way == CPUC_MULTIPLEXED) &&
	    t->reads++ >= RETRY_READS &&
	    cpuc_os_clock_ns() - t->unreadable >= RETRY_NS)
		return false;
	return read_descriptors(t, set, sum);
}

static uint64_t read_or_open(struct cpuc_perf_thread *t,
			     struct cpuc_event_set *set)
{
	unsigned way = set->reg != NULL ? CPUC_MAPPED : CPUC_PINNED_FD;
	uint64_t sum;

	if (cpuc_perf_thread_has(t, set)) {
		/* A handler may have replaced the events. */
		if (read_pages(t, set, &sum) || read_kept(t, set, &sum))
			return sum;
		if (t->way == CPUC_MAPPED)
			t->unreadable = cpuc_os_clock_ns();
	}
	cpuc_perf_drop(t, false);
	if (cpuc_os_clock_ns() - t->unreadable < RETRY_NS)
		way = CPUC_PINNED_FD;
	for (; way <= CPUC_MULTIPLEXED; way++) {
		if (cpuc_perf_thread_open(t, set, way) &&
		    (way == CPUC_MAPPED ? read_pages(t, set, &sum)
					: read_descriptors(t, set, &sum))) {
			t->clock = 0;
			return sum;
		}
		cpuc_perf_drop(t, false);
	}
	return read_time_instead(t, set);
}

static uint64_t read_guarded(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t;
	struct cpuc_guard guard;
	uint64_t sum;

	if (cpuc_perf_own == cpuc_perf_no_memory)
		return read_time_instead(NULL, set);
	/* This handler interrupted a change. That of nobody is shared. */
	if (!cpuc_guard_enter(&guard))
		return cpuc_perf_own == cpuc_perf_nobody
			       ? 1
			       : ++cpuc_perf_thread_own(set)->last;
	t = cpuc_perf_thread_state(set, read_ended);
	sum = t != NULL ? read_result(t, read_or_open(t, set))
			: read_time_instead(NULL, set);
	cpuc_guard_leave(&guard);
	return sum;
}

long long cpuc_perf_slow(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = cpuc_perf_thread_own(set);
	int saved = errno;
	uint64_t sum;

	if (__atomic_load_n(&set->opened, __ATOMIC_ACQUIRE) == 0)
		return set->counts == PERF_COUNT_HW_INSTRUCTIONS
			       ? cpuc_first_instructions()
			       : cpuc_first();
	if (read_kept(t, set, &sum))
		sum = read_result(t, sum);
	else
		sum = read_guarded(set);
	if (!cpuc_guard_inside &&
	    cpuc_perf_thread_unproven(cpuc_perf_thread_own(set), set))
		cpuc_first_on_core(set);
	errno = saved;
	return (long long)sum;
}

uint32_t cpuc_perf_index(struct cpuc_event_set *set)
{
	struct cpuc_perf_thread *t = cpuc_perf_thread_own(set);

	if (!cpuc_perf_thread_has(t, set))
		return 0;
	cpuc_perf_slow(set);
	return *t->quick != 0 ? t->index : 0;
}
