/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, from the ticks of a clock outside the core,
 * by a ratio that the thread measures again and again. Where the kernel
 * reports that (rseq.h), the time for which the thread does not run is left
 * out. */
#ifndef CPUC_COUNT_H
#define CPUC_COUNT_H

#include "../system/rseq.h"
#include "../system/thread.h"
#include "ratio.h"

/* A thread's state. It changes inside the guard only (system/thread.h), except
 * that cpuc_count() stores `seen`, and cpuc_count_anew() opens what the slow
 * path leaves closed.
 *
 * At tick t the count is cycles + (t - tick) * ratio.mean, as long as
 * t - tick < due and *word is `armed`. */
struct cpuc_core_count {
	uint64_t tick;
	uint64_t cycles;
	uintptr_t armed;
	cpuc_rseq_word *word; /* NULL before the thread's first count; &armed
				 where the kernel reports nothing */
	uint32_t due;  /* 0: closed, so that every count takes the slow path */
	uint32_t seen; /* ticks from `tick` to the latest count */
	struct cpuc_ratio ratio;

	/* For the slow path alone. */
	uint32_t wait;  /* the highest `due`; 0 in the midst of a change */
	uint32_t cpu;   /* that the ratio was measured on */
	unsigned dense; /* so many looks are to be dense */
	uint32_t spare; /* ticks: the budget of count_run() */
	struct cpuc_switches switches; /* until the latest wait */
	uint64_t given;  /* the highest count in the midst of a change */
	uint64_t ran;    /* by the thread's clock; 0: unknown */
	uint64_t waited; /* by the same, at the latest wait */
	uint32_t before; /* ticks counted from then to `tick` */
	const uint32_t *process; /* cpuc_process_mark() of `ran` */
};

/* Ticks. A count is due so soon after the latest one, or the second latest: a
 * pause that ends before is counted. */
#define CPUC_COUNT_SOON (uint32_t)(cpuc_calibration.hz / 2000)

CPUC_OWN_DECLARE(struct cpuc_core_count, cpuc_own_count);
#define cpuc_own_count CPUC_OWN(cpuc_own_count)

/* Whether the time for which a thread does not run is left out. */
bool cpuc_count_alone(void);

/* The count, the slow way, for a call that found `armed` and read the clock at
 * tick + d. */
uint64_t cpuc_count_slow(uintptr_t armed, uint64_t d);

/* Whether the slow path has left the count closed, to be opened now: not in a
 * handler that has interrupted the slow path, which goes on. */
static inline __attribute__((unused)) bool
cpuc_count_closed(const struct cpuc_core_count *c)
{
	return !cpuc_guard_inside && c->due == 0 && c->wait != 0;
}

/* The slow path, and the next interval's beginning: the slow path's time is in
 * nobody's count, so the interval begins at a tick that is read last of all,
 * when signals are no longer blocked. The word is armed once more before: a
 * tracer's stop at that system call has cleared it. A handler that came in
 * between has opened the count already. (One that comes just before the tick is
 * stored counts its own time twice; never too little.) Not inline, or the fast
 * path would have to save registers. */
static __attribute__((noinline, unused)) uint64_t
cpuc_count_anew(long long (*clock)(void), uintptr_t armed, uint64_t d)
{
	struct cpuc_core_count *c = &cpuc_own_count;
	uint64_t n = cpuc_count_slow(armed, d), t;

	if (cpuc_count_closed(c))
		cpuc_rseq_again(c->word, c->armed);
	t = (uint64_t)clock();
	CPUC_FENCE();
	if (cpuc_count_closed(c)) {
		c->tick = t;
		CPUC_FENCE();
		c->due = c->wait < CPUC_COUNT_SOON ? c->wait : CPUC_COUNT_SOON;
	}
	return n;
}

/* The count now. The check of the word covers all that may come between a
 * call's first load and its last: no handler changed the state, and the thread
 * ran. `seen` is stored before, as a handler that comes later may begin a new
 * interval; but it never gets less, as this core's clock may be behind that of
 * the latest count. */
static inline __attribute__((unused)) uint64_t
cpuc_count(long long (*clock)(void))
{
	struct cpuc_core_count *c = &cpuc_own_count;
	uintptr_t armed = *(const volatile uintptr_t *)&c->armed;
	uint64_t d, n;

	CPUC_FENCE();
	d = (uint64_t)clock() - c->tick;
	if (__builtin_expect(d >= c->due || d < c->seen, 0))
		goto slow;
	n = c->cycles + (d * c->ratio.mean >> CPUC_RATIO_BITS);
	c->seen = (uint32_t)d;
	CPUC_FENCE();
	if (__builtin_expect(*(const uintptr_t *)(uintptr_t)c->word == armed,
			     1))
		return n;
slow:
	return cpuc_count_anew(clock, armed, d);
}

#endif
