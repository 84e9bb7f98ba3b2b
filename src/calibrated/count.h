/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, from the ticks of a clock outside the core,
 * by a ratio that the thread measures again and again. The time for which the
 * thread does not run is left out. */
#ifndef CPUC_COUNT_H
#define CPUC_COUNT_H

#include "../system/rseq.h"
#include "../thread/thread.h"
#include "interval.h"
#include "ratio.h"

/*         due    changed by              a handler's call
 * FRESH   0                              begins the count
 * OPEN    > 0    each call: last         as any other
 *         0      the call that goes on   closes it, and opens another
 * CLOSED  0      its opening             closes it once more, and opens it
 * MIDST   0      the slow path           gets one more than the highest count
 *
 * A glimpse: due = 0, last, tick, due > 0. A handler in the midst of that
 * closes the interval, and the tick of another one stays as it is. */
enum cpuc_count_state {
	CPUC_COUNT_FRESH, /* the thread has not counted */
	CPUC_COUNT_OPEN,
	CPUC_COUNT_CLOSED, /* between two intervals */
	CPUC_COUNT_MIDST   /* of a change, in the guard (thread/thread.h) */
};

/* A thread's state. While it is open, the count at tick t is
 * cycles + (t - tick) * ratio.mean, if t - tick < due, t - last < gap and the
 * word is as it was armed: no handler changed the state, and the thread ran all
 * the time. During a call `due` is 0: a handler that counts closes the
 * interval, and the call sees by the word that its reading is stale. */
struct cpuc_core_count {
	uint64_t tick;
	uint64_t cycles;
	struct cpuc_rseq rseq;
	uint32_t due; /* a glimpse, or the interval's end */
	uint32_t gap; /* between two calls so many ticks apart may lie a wait */
	uint32_t last; /* the tick of the latest count, modulo 2^32 */

	/* For the slow path alone, but for the mean ratio. */
	uint32_t opened; /* `tick` at first, modulo 2^32 */
	uint32_t unread; /* ticks that it ran since its clock was read */
	volatile uint32_t interrupted; /* how often the word was cleared */
	struct cpuc_ratio ratio;
	uint64_t given;        /* in the midst: the highest count of any call */
	uint64_t ran;          /* that reading; 0: unknown */
	struct cpuc_lack lack; /* of that clock */
	uint16_t own, forced;  /* cpuc_rseq_switches(), when last asked */
	uint16_t process;      /* cpuc_process_mark() of `ran` */
	uint8_t state;         /* enum cpuc_count_state */
};

extern CPUC_TLS struct cpuc_core_count cpuc_own_count;

/* The count d ticks after `tick`, in an interval. */
static inline uint64_t cpuc_count_at(const struct cpuc_core_count *c,
				     uint64_t d)
{
	return c->cycles + (d * c->ratio.mean >> CPUC_RATIO_BITS);
}

/* Whether the time for which a thread does not run is left out. */
bool cpuc_count_alone(void);

/* The count, the slow way, for a call that found `armed` and read the clock at
 * tick + d. */
uint64_t cpuc_count_slow(uintptr_t armed, uint64_t d);

long long cpuc_count_interruptions(void);

/* The count now. The check of the word covers all from a call's first load to
 * its last. `last` is stored before it, as a handler that runs later may begin
 * a new interval, and put back if the thread was interrupted. A clock that is
 * behind the latest count, as another core's may be, is a gap too large. */
static inline __attribute__((unused)) uint64_t
cpuc_count(long long (*clock)(void))
{
	struct cpuc_core_count *c = &cpuc_own_count;
	uint32_t due = c->due, last;
	uintptr_t armed;
	uint64_t now, d, n;

	c->due = 0;
	CPUC_FENCE();
	armed = c->rseq.armed;
	last = c->last;
	CPUC_FENCE();
	now = (uint64_t)clock();
	d = now - c->tick;
	if (__builtin_expect(d >= due || (uint32_t)now - last >= c->gap, 0)) {
		c->due = due;
		return cpuc_count_slow(armed, d);
	}
	n = cpuc_count_at(c, d);
	c->last = (uint32_t)now;
	CPUC_FENCE();
	c->due = due;
	CPUC_FENCE();
	if (__builtin_expect(*c->rseq.word == armed, 1))
		return n;
	if (c->rseq.armed == armed)
		c->last = last;
	return cpuc_count_slow(armed, d);
}

#endif
