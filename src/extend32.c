/* SPDX-License-Identifier: 0BSD */
/* 32-bit counts to 64 bits, with the help of a second clock.
 *
 * A count that wraps every second or two is ambiguous alone. The second clock
 * predicts the full count roughly, and the hardware's low half
 * then fixes it exactly. Each thread predicts from an anchor of its own, which
 * the first count after 0.1 seconds renews. So threads share nothing, and while
 * a thread keeps counting an error of the rate has no time to grow. */
#include <config.h>
#include <errno.h>
#include <stdbool.h>
#include "extend32.h"
#include "system/os_clock.h"
#include "thread/thread.h"

#define RENEW_NS 100000000 /* an anchor older than this is replaced */
#define APART_NS 100000000 /* clock and count must be read this close */

uint64_t cpuc_extend32_at(const struct cpuc_anchor *from, uint32_t raw,
			  uint64_t ns)
{
	uint64_t rate = from->rate ? from->rate : UINT64_C(1) << 31;
	uint64_t passed = ns > from->ns ? ns - from->ns : 0;
	uint64_t guess = from->full + passed / 1000000000 * rate +
			 passed % 1000000000 / 1000 * rate / 1000000;
	int32_t step = (int32_t)(raw - (uint32_t)guess);

	if (step < 0 && guess < (uint64_t) - (int64_t)step)
		return raw;
	return guess + (uint64_t)(int64_t)step;
}

/* A thread's anchor. */
struct extend32_thread {
	const struct cpuc_anchor *first; /* whose: one a counter */
	struct cpuc_anchor at;
	unsigned renewals;
};

/* The state of a thread before its first anchor, and of a thread that gets no
 * memory. Pointers to them come from integers: they are never written, and
 * compilers can warn where a cast drops const. */
static const struct extend32_thread extend32_none, extend32_never;

#define NO_ANCHOR ((struct extend32_thread *)(uintptr_t)&extend32_none)

static CPUC_TLS struct extend32_thread *extend32_own = NO_ANCHOR;

static void extend32_ended(void *memory, bool last)
{
	(void)memory;
	if (last)
		extend32_own = NO_ANCHOR;
}

static void extend32_renew(const struct cpuc_anchor *first, uint64_t full,
			   uint64_t ns)
{
	struct extend32_thread *own;
	struct cpuc_guard guard;
	int saved = errno;

	if (extend32_own == &extend32_never || !cpuc_guard_enter(&guard))
		return;
	own = extend32_own;
	if (own == NO_ANCHOR)
		own = cpuc_thread_memory(sizeof *own, extend32_ended);
	if (own != NULL) {
		/* No counter owns it until this is done. */
		own->first = NULL;
		CPUC_FENCE();
		own->at = (struct cpuc_anchor){full, ns, first->rate};
		own->renewals++;
		CPUC_FENCE();
		own->first = first;
	} else {
		own = (struct extend32_thread *)(uintptr_t)&extend32_never;
		errno = saved;
	}
	extend32_own = own;
	cpuc_guard_leave(&guard);
}

uint64_t cpuc_extend32(const struct cpuc_anchor *first, long long (*read)(void))
{
	const struct extend32_thread *own = extend32_own;
	const struct cpuc_anchor *from;
	uint64_t ns, full;
	uint32_t raw;
	unsigned renewals;

	/* A thread that sleeps in between would date the count too late. */
	do {
		ns = cpuc_os_clock_coarse_ns();
		raw = (uint32_t)read();
	} while (cpuc_os_clock_coarse_ns() - ns > APART_NS);
	/* Repeat if a signal handler has renewed the anchor meanwhile. */
	do {
		renewals = own->renewals;
		CPUC_FENCE();
		from = own->first == first ? &own->at : first;
		full = cpuc_extend32_at(from, raw, ns);
		CPUC_FENCE();
	} while (own->renewals != renewals);
	if (from == first || ns - from->ns > RENEW_NS)
		extend32_renew(first, full, ns);
	return full;
}
