/* SPDX-License-Identifier: 0BSD */
/* 32-bit counts to 64 bits, with the help of a second clock.
 *
 * A count that wraps every second or two is ambiguous alone. The second clock
 * predicts roughly what the full count must be, and the hardware's low half
 * then fixes it exactly. Each thread predicts from an anchor of its own, which
 * the first count after 0.1 seconds renews. So threads share nothing, and while
 * a thread keeps counting an error of the rate has no time to grow. */
#include <config.h>
#include <signal.h>
#include <stdbool.h>
#include "clock.h"
#include "extend32.h"
#include "thread.h"

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

/* A thread's anchors. A signal handler may count in the middle of a renewal: it
 * sees the entry in use, which is whole, and renews nothing. */
struct extend32_thread {
	struct {
		const struct cpuc_anchor *first; /* whose: one a counter */
		struct cpuc_anchor at;
	} entry[2];
	volatile sig_atomic_t use;  /* the entry to read */
	volatile sig_atomic_t busy; /* the other one is being written */
};

/* The calling thread's; NULL: none yet. */
static CPUC_THREAD struct extend32_thread *extend32_own;

static void extend32_ended(void *memory, bool last)
{
	(void)memory;
	if (last)
		extend32_own = NULL;
}

static void extend32_renew(const struct cpuc_anchor *first, uint64_t full,
			   uint64_t ns)
{
	struct extend32_thread *own = extend32_own;
	int other;

	if (own == NULL)
		own = cpuc_thread_memory(sizeof *own, extend32_ended);
	if (own == NULL || own->busy)
		return;
	own->busy = 1;
	other = !own->use;
	CPUC_FENCE();
	own->entry[other].first = first;
	own->entry[other].at = (struct cpuc_anchor){full, ns, first->rate};
	CPUC_FENCE();
	own->use = other;
	own->busy = 0;
	extend32_own = own;
}

uint64_t cpuc_extend32(const struct cpuc_anchor *first, long long (*read)(void))
{
	const struct extend32_thread *own = extend32_own;
	const struct cpuc_anchor *from = first;
	uint64_t ns, full;
	uint32_t raw;

	/* A thread that sleeps in between would date the count too late. */
	do {
		ns = cpuc_clock_coarse_ns();
		raw = (uint32_t)read();
	} while (cpuc_clock_coarse_ns() - ns > APART_NS);
	if (own != NULL && own->entry[own->use].first == first)
		from = &own->entry[own->use].at;
	full = cpuc_extend32_at(from, raw, ns);
	if (from == first || ns - from->ns > RENEW_NS)
		extend32_renew(first, full, ns);
	return full;
}
