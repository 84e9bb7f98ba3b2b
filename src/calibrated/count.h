/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles while it runs, from the ticks of a clock
 * outside the core, by a ratio that the thread measures again and again. */
#ifndef CPUC_COUNT_H
#define CPUC_COUNT_H

#include "../system/rseq.h"
#include "../thread/guard.h"
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
 * closes the interval meanwhile, the compare-and-swap of `tick` fails. */
enum cpuc_count_state {
	CPUC_COUNT_FRESH, /* the thread has not counted */
	CPUC_COUNT_OPEN,
	CPUC_COUNT_CLOSED, /* between two intervals */
	CPUC_COUNT_MIDST   /* of a change, in the guard (thread/guard.h) */
};

/* A thread's state, in ticks where no unit is given; 32 bits: modulo 2^32.
 *
 *   tick_opened    tick             last         now      tick + due
 *        |- glimpses -|--- counted ---|--- gap? ---|------------|
 *
 * changed by any call       last, due
 *            a glimpse      these, two of ratio, tick: later by what it took
 *            an opening     these, tick_opened, gap, state, clock_reading,
 *                           interruptions
 *            in the midst   a handler: highest, or cycles if FRESH
 *            the guard      all
 *
 * In an open interval the count at tick t is cycles + (t - tick) *
 * ratio.estimate, while t - tick < due, t - last < gap and the word is as
 * armed: nothing has interrupted the thread. */
struct cpuc_core_count {
	uint64_t tick;   /* where the interval begins */
	uint64_t cycles; /* the count there */
	struct cpuc_rseq rseq;
	uint32_t due;  /* to a glimpse, or the interval's end; 0: a call runs */
	uint32_t gap;  /* two calls so far apart may have a wait between */
	uint32_t last; /* of the latest count, or `tick` */

	/* For the slow path alone, but for ratio.estimate. */
	uint32_t tick_opened; /* `tick` before glimpses */
	uint32_t unread;      /* from clock_reading to there: it ran */
	volatile uint32_t interruptions; /* so often the word was cleared */
	struct cpuc_ratio ratio;
	uint64_t highest;       /* in the midst: of all calls' counts, cycles */
	uint64_t clock_reading; /* the thread's clock; 0: unknown */
	struct cpuc_lack lack;  /* of that clock */
	uint16_t voluntary, involuntary; /* switches, when last asked */
	uint16_t mark_index; /* cpuc_process->mark[] of clock_reading */
	uint8_t state;       /* enum cpuc_count_state */
	uint8_t sooner; /* COUNT_CLOCK_EVERY >> this, to the next reading */
};

extern CPUC_TLS struct cpuc_core_count cpuc_own_count;

/* The count d ticks after `tick`, in an interval. */
static inline uint64_t cpuc_count_at(const struct cpuc_core_count *c,
				     uint64_t d)
{
	return c->cycles + (d * c->ratio.estimate >> CPUC_RATIO_BITS);
}

/* The slow path, for a call that found `armed` and then read the tick `now`:
 * runs chains, makes system calls, and selects where nothing has. */
uint64_t cpuc_count_slow(uintptr_t armed, uint64_t now);

/* cpucycles_interruptions(), after a selection. Counts, too: the slow path sees
 * and arms the word again. */
long long cpuc_count_interruptions(void);

/* The count now, by the fast path if that is possible. The word is checked
 * last: nothing interrupted the call. `last` is stored before that, and put
 * back if something did. If this core's clock is behind `last`, the gap seems
 * huge. If handlers have armed the word so often that its value is `armed` once
 * more, d seems huge: `tick` is read last, and is theirs. */
static inline __attribute__((unused)) uint64_t
cpuc_count(long long (*clock)(void))
{
	struct cpuc_core_count *c = &cpuc_own_count;
	uint32_t due = c->due, last;
	uintptr_t armed;
	uint64_t now, cycles, ratio, d;

	c->due = 0;
	/* From here on a handler's call ends the interval and arms the word. */
	CPUC_FENCE();
	armed = c->rseq.armed;
	last = c->last;
	/* What interrupts after this shows in the last look at the word. */
	CPUC_FENCE();
	now = (uint64_t)clock();
	CPUC_FENCE();
	cycles = c->cycles;
	ratio = c->ratio.estimate;
	/* The tick last: one of a handler's, which may have stored other
	 * cycles, is later than `now`. */
	CPUC_FENCE();
	d = now - c->tick;
	if (__builtin_expect(d >= due || (uint32_t)now - last >= c->gap, 0)) {
		c->due = due;
		return cpuc_count_slow(armed, now);
	}
	c->last = (uint32_t)now;
	/* A call in between finds 0, and ends the interval with this `last`. */
	CPUC_FENCE();
	c->due = due;
	/* Nothing but `last` is stored after the look. */
	CPUC_FENCE();
	if (__builtin_expect(cpuc_rseq_stands(&c->rseq, armed), 1))
		return cycles + (d * ratio >> CPUC_RATIO_BITS);
	if (c->rseq.armed == armed)
		c->last = last;
	return cpuc_count_slow(armed, now);
}

#endif
