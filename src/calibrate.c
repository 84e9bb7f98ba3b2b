/* SPDX-License-Identifier: 0BSD */
/* A thread's count in core cycles.
 *
 * A call that comes `due` ticks or more after the last measurement measures,
 * and what that took sets the next one a thousand times as far away. The ticks
 * it took are in nobody's count.
 *
 * Signals: a handler may count at any point. The base in use is always whole:
 * a measurement writes another one. There is one measurement at a time: a call
 * in its midst counts on with the base in use, and has the measurement, which
 * its handler has spoilt, thrown away.
 *
 * A measurement that lasts too long may have been abandoned, so that the next
 * call takes over; but it may as well go on when that call's handler returns.
 * There are two pairs of bases: who takes over goes on in the other pair, so
 * that whatever the first one still writes is in no use. */
#include <config.h>
#include <stdbool.h>
#include <stddef.h>
#include "calibrate.h"
#include "first_call.h"

#define COST 1024u /* one part of the time in so many is spent measuring */
#define TICKS_MAX (cpuc_ruler.hz / 16) /* 60 ms: a change shows in 100 ms */

CPUC_THREAD struct cpuc_count cpuc_count;
struct cpuc_ruler cpuc_ruler;

/* ticks * ratio for any number of ticks, without 128-bit arithmetic, and for
 * few ticks what the fast path says to the cycle. */
static uint64_t scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

/* Ticks since; 0 where this core's clock is behind the last one's. */
static uint64_t since(uint64_t tick, uint64_t t)
{
	return (int64_t)(t - tick) < 0 ? 0 : t - tick;
}

/* The count at t. Beyond `due` no call has looked: the ratio may have changed
 * at any moment of that, so the mean of the old and the new one counts. A clock
 * that is further behind than cores are has begun anew, as after a suspend:
 * the base may have given counts up to `due`. */
static uint64_t count_at(const struct cpuc_base *b, uint64_t t, uint64_t ratio)
{
	uint64_t d = since(b->tick, t);

	if (b->ratio == 0)
		return scaled(d, cpuc_ruler.ratio);
	if (since(t, b->tick) > TICKS_MAX)
		d = b->due;
	if (d <= b->due)
		return b->cycles + scaled(d, b->ratio);
	return b->cycles + scaled(b->due, b->ratio) +
	       scaled(d - b->due, b->ratio / 2 + ratio / 2);
}

/* A handler that took long, or that came late, has measured instead. */
static uint64_t taken_over(void)
{
	return cpuc_calibrated((uint64_t)cpuc_ruler.ops->tick());
}

/* A count in the midst of the measurement that began then. Another handler may
 * count between any two lines of this. */
static uint64_t nested(struct cpuc_count *c, uint64_t began, uint64_t t)
{
	const struct cpuc_base *b;
	unsigned calls;
	uint64_t n;

	for (;;) {
		calls = c->calls + 1;
		c->calls = calls;
		b = &c->base[c->use];
		n = b->ended ? c->end : count_at(b, t, b->ratio);
		if (n < c->high)
			n = c->high;
		if (c->began != began)
			break;
		c->high = n;
		if (c->calls == calls)
			break;
		t = (uint64_t)cpuc_ruler.ops->tick();
	}
	return c->began == began ? n : taken_over();
}

/* Ends the base in use, at `cycles` or at the largest count that handlers were
 * given. From then on they are given that, until there is a base that goes on
 * from it: a count of theirs past it would not be in the new one. */
static uint64_t end(struct cpuc_count *c, struct cpuc_base *b, uint64_t cycles)
{
	c->end = cycles;
	b->ended = 1;
	return cycles < c->high ? c->high : cycles;
}

/* False if another measurement has published meanwhile. */
static bool publish(struct cpuc_count *c, sig_atomic_t use, int other,
		    const struct cpuc_base *next)
{
	c->base[other] = *next;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (!__atomic_compare_exchange_n(&c->use, &use, other, 0,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	c->busy = 0;
	return true;
}

/* Measures from now on, with the base that is in use now, and publishes the
 * next. `began` tells whose measurement it is, `taken` whether it takes over;
 * a call in its midst makes `calls` more. */
static uint64_t measure(struct cpuc_count *c, uint64_t began, unsigned calls,
			int taken)
{
	int use = c->use;
	struct cpuc_base *b = &c->base[use];
	uint64_t t = (uint64_t)cpuc_ruler.ops->tick(), cost;
	struct cpuc_track track = c->track;
	struct cpuc_base next = {.ended = 0};

	/* A handler has measured since the caller read its tick, and others
	 * may have counted by that. */
	if (t - b->tick < b->due) {
		c->busy = 0;
		return count_at(b, t, b->ratio);
	}
	next.ratio = cpuc_track_measure(&track);
	if (c->began != began)
		return taken_over();
	if (c->calls == calls)
		c->track = track;
	if (next.ratio == 0 || c->calls != calls)
		next.ratio = b->ratio ? b->ratio : cpuc_ruler.ratio;
	next.cycles = end(c, b, count_at(b, t, next.ratio));
	next.tick = (uint64_t)cpuc_ruler.ops->tick();
	/* Three windows at most: what an interrupt or another process took is
	 * not the measurement's cost. */
	cost = since(t, next.tick);
	if (cost > 3 * (uint64_t)cpuc_ruler.span)
		cost = 3 * (uint64_t)cpuc_ruler.span;
	cost *= COST;
	next.due = (uint32_t)(cost < TICKS_MAX ? cost : TICKS_MAX);
	if (c->began != began || !publish(c, use, use ^ (taken ? 2 : 1), &next))
		return taken_over();
	return next.cycles;
}

uint64_t cpuc_calibrated_slow(uint64_t t)
{
	struct cpuc_count *c = &cpuc_count;
	uint64_t began;
	int busy;

	/* The caller's load of cpucycles does not order the ruler after it on
	 * weakly ordered CPUs; a thread's first call always comes this way. */
	if (__atomic_load_n(&cpuc_ruler.ops, __ATOMIC_ACQUIRE) == NULL)
		return (uint64_t)cpuc_first();
	/* A handler that left by siglongjmp abandoned its measurement: after a
	 * while that is taken over, and with it what was counted meanwhile. */
	began = c->began;
	busy = c->busy;
	if (busy && since(began, t) < TICKS_MAX && since(t, began) < TICKS_MAX)
		return nested(c, began, t);
	c->busy = 1;
	c->began = t;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return measure(c, t, c->calls, busy);
}

int cpuc_calibrate(const struct cpuc_chain_ops *ops, uint64_t hz,
		   const char **why, unsigned *permille)
{
	struct cpuc_ruler r = {.ops = ops, .hz = hz};
	int err;

	if (cpuc_ruler.ops != NULL)
		return 0;
	err = cpuc_ruler_make(&r, why, permille);
	if (err != 0)
		return err;
	r.ops = NULL;
	cpuc_ruler = r;
	__atomic_store_n(&cpuc_ruler.ops, ops, __ATOMIC_RELEASE);
	return 0;
}
