/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles while it runs, from the ticks of a clock
 * outside the core, by a ratio that the thread measures again and again. */
#ifndef CPUC_COUNT_H
#define CPUC_COUNT_H

#include "../system/rseq.h"
#include "../thread/thread.h"
#include "interval.h"
#include "ratio.h"

/* state   due    changed by              a call in a handler then
 * FRESH   0                              begins the count
 * OPEN    > 0    each call: last         as any other
 *         0      the call that goes on   closes it, and opens another
 * CLOSED  0      its opening             closes it once more, and opens it
 * MIDST   0      the slow path           gets one more than the highest count
 *
 * A glimpse stores due = 0, last, tick, due > 0, in this order. If a handler
 * closes the interval meanwhile, the compare-and-swap of tick fails. */
enum cpuc_count_state {
	CPUC_COUNT_FRESH, /* the thread has not counted */
	CPUC_COUNT_OPEN,
	CPUC_COUNT_CLOSED, /* between two intervals */
	CPUC_COUNT_MIDST   /* of a change, in the guard (thread/thread.h) */
};

/* A thread's state, in ticks where no unit is given; 32 bits: modulo 2^32.
 *
 *   tick_opened    tick             last         now      tick + due
 *        |- glimpses -|--- counted ---|--- gap? ---|------------|
 *
 * changed by any call       last, due
 *            a glimpse      the same, and tick: later by what it took
 *            an opening     these, tick_opened, gap, state, clock_reading
 *            the guard      the others, and all of these
 *
 * In an open interval the count at tick t is cycles + (t - tick) * ratio.mean,
 * while t - tick < due, t - last < gap and the word is as armed: nothing
 * interrupted the thread. */
struct cpuc_core_count {
	uint64_t tick;   /* where the interval begins */
	uint64_t cycles; /* the count there */
	struct cpuc_rseq rseq;
	uint32_t due;  /* to a glimpse, or the interval's end; 0: a call runs */
	uint32_t gap;  /* two calls so far apart may have a wait between */
	uint32_t last; /* the latest count */

	/* For the slow path alone, but for the mean ratio. */
	uint32_t tick_opened;            /* `tick` before glimpses */
	uint32_t unread;                 /* ran from clock_reading to there */
	volatile uint32_t interruptions; /* also counted without the guard */
	struct cpuc_ratio ratio;
	uint64_t highest;       /* in the midst: of all calls' counts, cycles */
	uint64_t clock_reading; /* the thread's clock; 0: unknown */
	struct cpuc_lack lack;  /* of that clock */
	uint16_t voluntary, involuntary; /* switches at the latest look */
	uint16_t mark_index; /* cpuc_process->mark[] of clock_reading */
	uint8_t state;       /* enum cpuc_count_state */
	uint8_t sooner; /* COUNT_CLOCK_EVERY >> this, to the next reading */
};

extern CPUC_TLS struct cpuc_core_count cpuc_own_count;

/* The count d ticks after `tick`, in an interval. */
static inline uint64_t cpuc_count_at(const struct cpuc_core_count *c,
				     uint64_t d)
{
	return c->cycles + (d * c->ratio.mean >> CPUC_RATIO_BITS);
}

/* Whether the time for which a thread does not run is left out. */
bool cpuc_count_per_thread(void);

/* The slow way, for a call that found `armed` and then read the tick `now`. */
uint64_t cpuc_count_slow(uintptr_t armed, uint64_t now);

long long cpuc_count_interruptions(void);

/* The count now. The word is checked last: nothing interrupted the call. `last`
 * is stored before that, and put back if something did. If this core's clock is
 * behind `last`, the gap seems huge. So it does if handlers have armed the word
 * so often that it is as armed once more: `tick` is read last, and is theirs.
 */
static inline __attribute__((unused)) uint64_t
cpuc_count(long long (*clock)(void))
{
	struct cpuc_core_count *c = &cpuc_own_count;
	uint32_t due = c->due, last;
	uintptr_t armed;
	uint64_t now, cycles, mean, d;

	c->due = 0;
	CPUC_FENCE();
	armed = c->rseq.armed;
	last = c->last;
	CPUC_FENCE();
	now = (uint64_t)clock();
	CPUC_FENCE();
	cycles = c->cycles;
	mean = c->ratio.mean;
	CPUC_FENCE();
	d = now - c->tick;
	if (__builtin_expect(d >= due || (uint32_t)now - last >= c->gap, 0)) {
		c->due = due;
		return cpuc_count_slow(armed, now);
	}
	c->last = (uint32_t)now;
	CPUC_FENCE();
	c->due = due;
	CPUC_FENCE();
	if (__builtin_expect(cpuc_rseq_stands(&c->rseq, armed), 1))
		return cycles + (d * mean >> CPUC_RATIO_BITS);
	if (c->rseq.armed == armed)
		c->last = last;
	return cpuc_count_slow(armed, now);
}

#endif
