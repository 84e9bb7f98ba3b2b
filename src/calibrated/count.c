/* SPDX-License-Identifier: 0BSD */
/* A count, where the fast path gives up: a glimpse is due, a reading of the
 * thread's clock or a measurement; or the thread may have been interrupted.
 *
 * If all is well after a glimpse, the interval goes on. Else it ends in the
 * guard, and another one begins:
 *
 *   observe   asks the thread's clock and the kernel, and runs chains: the
 *             ratio may change, `tick` and `cycles` stay
 *   decide    what the interval counts: interval.c
 *   open      begins the next one at the very end
 *
 * What the slow path takes is in no interval. */
#include <config.h>
#include "../arithmetic.h"
#include "../rate/clock.h"
#include "../slot.h"
#include "../system/scheduling.h"
#include "../thread/marks.h"
#include "calibrate.h"
#include "constants.h"
#include "count.h"
#include "thread_clock.h"

CPUC_TLS struct cpuc_core_count cpuc_own_count;

static uint64_t count_tick(void)
{
	return (uint64_t)cpuc_calibration.clock->tick();
}

/* Whether a wait clears the thread's word. */
static bool count_waits_clear(const struct cpuc_core_count *c)
{
	return cpuc_rseq_has_word(&c->rseq) &&
	       !__atomic_load_n(&cpuc_rseq_misses_waits, __ATOMIC_RELAXED);
}

/* Whether the thread's clock can be believed: where it lacks something, as it
 * may often, it is watched now and then, by a hash of the tick. */
static void count_check_clock(const struct cpuc_core_count *c,
			      struct cpuc_interval *i, uint64_t *reading)
{
	const uint64_t t = c->tick + i->ticks;

	if (!cpuc_interval_doubted(i, cpuc_calibration.switch_hides) ||
	    (uint32_t)t * UINT32_C(2654435769) > UINT32_MAX / LEAP_SAMPLED ||
	    cpuc_thread_clock_watch(t, *reading))
		return;
	i->clock_known = false;
	*reading = 0;
}

/* Switches since the last call of this; if unknown, perhaps more than one. */
static void count_switches(struct cpuc_core_count *c, struct cpuc_interval *i)
{
	struct cpuc_switches now;

	i->switches_unknown = !cpuc_thread_switches(&now);
	if (i->switches_unknown) {
		i->switches.voluntary = 2;
		return;
	}
	i->switches.voluntary = (uint16_t)(now.voluntary - c->voluntary);
	i->switches.involuntary = (uint16_t)(now.involuntary - c->involuntary);
	c->voluntary = (uint16_t)now.voluntary;
	c->involuntary = (uint16_t)now.involuntary;
}

/* The thread's first count. A call in its midst may have stored `cycles`. What
 * cleared a word that cpuc_count_interruptions() has armed, stays known. */
static uint64_t count_begin(struct cpuc_core_count *c, uint64_t t)
{
	cpuc_ratio_first(&c->ratio, t);
	c->tick = t;
	c->sooner = COUNT_CLOCK_SOONER;
	if (c->rseq.word == NULL)
		cpuc_rseq_begin(&c->rseq, cpuc_rseq_own());
	return cpuc_scaled(t, c->ratio.estimate);
}

/* Of the interval's d ticks, those up to the latest count. If `last` is from
 * before the interval, as an interrupted call has stored it: all, but no more
 * than an interval is planned for. */
static uint64_t count_seen(const struct cpuc_core_count *c, uint64_t d)
{
	uint32_t seen = c->last - (uint32_t)c->tick;

	if (c->state != CPUC_COUNT_OPEN)
		return 0;
	return seen <= COUNT_CLOCK_EVERY
		       ? seen
		       : cpuc_min(cpuc_sub_sat(d, 0), COUNT_CLOCK_EVERY);
}

/* For calls of count_inside(), in handlers: one that finds the midst finds its
 * highest count, and one that does not, nothing that has changed yet. */
static void count_midst_begin(struct cpuc_core_count *c, uint64_t highest)
{
	c->highest = highest;
	CPUC_FENCE();
	c->state = CPUC_COUNT_MIDST;
	CPUC_FENCE();
}

/* Closes the interval at n, or at the highest count of calls in the midst, of
 * which there are none once it is closed. */
static uint64_t count_midst_end(struct cpuc_core_count *c, uint64_t n)
{
	c->state = CPUC_COUNT_CLOSED;
	/* count_inside() raises `highest` before, and not from here on. */
	CPUC_FENCE();
	n = n > c->highest ? n : c->highest;
	c->cycles = n = n > c->cycles ? n : c->cycles;
	c->tick = count_tick();
	c->tick_opened = (uint32_t)c->tick;
	return n;
}

/* The ticks from an interval's beginning to its end. */
static uint64_t count_planned(const struct cpuc_core_count *c)
{
	return cpuc_min(cpuc_sub_sat(COUNT_CLOCK_EVERY >> c->sooner, c->unread),
			c->ratio.measure_in);
}

/* The tick is read last of all, with signals unblocked. The word is armed again
 * first: a signal that came in the guard has cleared it, or a tracer's stop at
 * a system call. A handler may open the interval meanwhile. (If it
 * counts between the look at `state` and the store of `tick`, its ticks count
 * twice.) */
static void count_open(struct cpuc_core_count *c)
{
	const uintptr_t armed = c->rseq.armed;
	uint64_t t;
	uint32_t due;

	/* For waits since the thread's clock was read, the old one holds. */
	if (c->unread == 0)
		c->gap = count_waits_clear(c) ? COUNT_GAP_CLEARS : COUNT_GAP;
	due = (uint32_t)cpuc_min(count_planned(c), c->ratio.glimpse_in);
	if (c->state == CPUC_COUNT_CLOSED && cpuc_rseq_restore(&c->rseq))
		c->interruptions = c->interruptions + 1;
	t = count_tick();
	/* A handler that came before this look has opened the interval. */
	CPUC_FENCE();
	if (c->state != CPUC_COUNT_CLOSED)
		return;
	c->tick = t;
	c->tick_opened = (uint32_t)t;
	/* A handler's call from here on closes this, by the look at `armed`. */
	CPUC_FENCE();
	/* A handler has set `last`, and read the thread's clock since. */
	if (c->rseq.armed != armed)
		c->clock_reading = 0;
	else
		c->last = (uint32_t)t;
	/* In an open interval count_seen() takes `last` for a count. */
	CPUC_FENCE();
	c->state = CPUC_COUNT_OPEN;
	/* With `due`, cpuc_count() takes the fast path, by all the above. */
	CPUC_FENCE();
	c->due = due > 0 ? due : 1;
}

/* Asks what has happened in the interval, and whether the core has another rate
 * now. Returns whether the thread's clock was read: *reading, at the end. */
static bool count_observe(struct cpuc_core_count *c, struct cpuc_interval *i,
			  uint64_t *reading)
{
	uint16_t cpu;
	uint64_t rest = i->ticks - i->counted, worked;
	bool asks, slow;

	i->interrupted = cpuc_rseq_rearm(&c->rseq);
	c->interruptions = c->interruptions + i->interrupted;
	/* A reading that is almost due is made now. */
	asks = i->interrupted || rest == 0 || rest >= c->gap ||
	       c->unread + i->ticks >= 7 * (COUNT_CLOCK_EVERY >> c->sooner) / 8;
	*reading = asks ? cpuc_thread_clock() : 0;
	/* In a child that clock began at 0. */
	i->clock_known = c->clock_reading != 0 &&
			 *reading >= c->clock_reading &&
			 cpuc_process->mark[c->mark_index] != 0;
	i->ran = *reading - c->clock_reading;
	if (asks) {
		count_switches(c, i);
		count_check_clock(c, i, reading);
	}
	cpu = (uint16_t)cpuc_thread_cpu();
	i->migrated = cpu != c->ratio.cpu;
	c->ratio.cpu = cpu;
	if (i->migrated)
		cpuc_ratio_moved(&c->ratio);
	worked = cpuc_min(cpuc_sub_sat(rest, 0),
			  i->clock_known ? i->ran : UINT64_MAX);
	slow = cpuc_ratio_update(&c->ratio, cpuc_sub_sat(i->ticks, 0),
				 worked) != CPUC_RATIO_STANDS;
	i->ratio_after = c->ratio.estimate;
	if (slow)
		*reading = cpuc_thread_clock();
	return asks || slow;
}

/* When the thread's clock is read next: soon after a switch, and sooner if the
 * one before left no time to compare the clock. */
static void count_plan(struct cpuc_core_count *c, bool paused, bool compared)
{
	const unsigned least = c->lack.slow > SLOW_MUCH ? COUNT_CLOCK_SLOW : 0;

	if (paused && c->sooner < COUNT_CLOCK_SOONER)
		c->sooner = COUNT_CLOCK_SOONER;
	else if (paused && c->sooner < COUNT_CLOCK_SOONEST)
		c->sooner++;
	else if (compared && c->sooner > least)
		c->sooner--;
}

static struct cpuc_bounds count_bounds(void)
{
	return (struct cpuc_bounds){.hides = cpuc_calibration.switch_hides,
				    .wait = COUNT_GAP,
				    .ramp = COUNT_RAMP,
				    .least = COUNT_CLOCK_LEAST};
}

/* Observes and closes the interval at the tick t that the caller read, and
 * after which the word stood or did not. */
static uint64_t count_close(struct cpuc_core_count *c, uintptr_t armed,
			    uint64_t t, bool stood)
{
	const struct cpuc_bounds bounds = count_bounds();
	struct cpuc_interval i = {
		.cycles = c->cycles, .lack = c->lack, .stood = stood};
	struct cpuc_closed closed;
	uint64_t reading;
	bool clock_read;

	c->due = 0;
	/* From here on a handler's call ends the interval and arms the word. */
	CPUC_FENCE();
	if (c->state == CPUC_COUNT_FRESH)
		i.cycles = count_begin(c, t);
	/* A handler has ended that interval. */
	else if (c->rseq.armed != armed) {
		t = count_tick();
		i.stood = false;
	}
	i.ratio_before = c->ratio.estimate;
	i.ticks = t - c->tick;
	i.counted = count_seen(c, i.ticks);
	/* In a glimpse the thread ran, but no count has that. */
	i.unread = c->unread + ((uint32_t)c->tick - c->tick_opened);
	i.gap = c->gap;
	i.waits_clear = count_waits_clear(c);
	count_midst_begin(c, i.cycles + cpuc_scaled(i.counted, i.ratio_before));
	clock_read = count_observe(c, &i, &reading);
	closed = cpuc_interval_close(&i, &bounds);
	if (closed.wait_missed)
		__atomic_store_n(&cpuc_rseq_misses_waits, true,
				 __ATOMIC_RELAXED);
	c->lack = closed.lack;
	count_plan(c, closed.paused, closed.compared);
	c->unread = clock_read ? 0 : (uint32_t)(i.unread + closed.ticks);
	if (clock_read)
		c->clock_reading = reading;
	if (reading != 0)
		c->mark_index =
			(uint16_t)(cpuc_process_mark() - cpuc_process->mark);
	return count_midst_end(c, closed.cycles);
}

/* A glimpse in an open interval, for a call that read the tick `now`. If it
 * shows the ratio in use, the interval goes on, less what this has taken, and
 * *n is the count. False: the interval must end. */
static bool count_glimpse(struct cpuc_core_count *c, uintptr_t armed,
			  uint64_t now, uint64_t *n)
{
	const uint64_t end = count_planned(c);
	uint64_t tick = c->tick, d = now - tick, t;

	if (CPUC_GLIMPSE_GUARDED || c->due == 0 || d >= end ||
	    (uint32_t)now - c->last >= c->gap)
		return false;
	c->due = 0;
	/* As in cpuc_count(): a handler's call from here on ends the interval.
	 * One before shows in the word, a later one in the tick. */
	CPUC_FENCE();
	if (!cpuc_rseq_stands(&c->rseq, armed) ||
	    !cpuc_ratio_glimpse(&c->ratio))
		return false;
	*n = cpuc_count_at(c, d);
	t = count_tick();
	if (t - now > GLIMPSE_SLOW * cpuc_calibration.glimpse_cost)
		return false;
	c->last = (uint32_t)t;
	/* Whoever finds the later tick finds no `last` before it. */
	CPUC_FENCE();
	if (!__atomic_compare_exchange_n(&c->tick, &tick, t - d, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return false;
	/* As in count_open(): the fast path may be taken again. */
	CPUC_FENCE();
	c->ratio.glimpse_in = (uint32_t)d + cpuc_ratio_glimpse_every(&c->ratio);
	c->due = (uint32_t)cpuc_min(c->ratio.glimpse_in, end);
	return true;
}

/* A call while this thread is in the guard: in the handler of a fault, or of
 * any signal where none can be blocked. (If another one interrupts it here,
 * counts may be lost.) */
static uint64_t count_inside(struct cpuc_core_count *c)
{
	uint64_t n;

	switch (c->state) {
	case CPUC_COUNT_FRESH:
		n = cpuc_scaled(count_tick(), cpuc_calibration.ratio);
		return c->cycles = n > c->cycles ? n : c->cycles;
	case CPUC_COUNT_MIDST:
		n = c->highest > c->cycles ? c->highest : c->cycles;
		return c->highest = n + 1;
	}
	n = cpuc_count_at(c, count_seen(c, count_tick() - c->tick));
	return n > c->highest ? n : c->highest;
}

uint64_t cpuc_count_slow(uintptr_t armed, uint64_t now)
{
	struct cpuc_core_count *c = &cpuc_own_count;
	struct cpuc_guard guard;
	uint64_t n;
	bool stood;

	/* Orders the calibration after the caller's load of cpucycles on
	 * weakly ordered CPUs; a thread's first call always comes here. */
	if (__atomic_load_n(&cpuc_calibration.clock, __ATOMIC_ACQUIRE) == NULL)
		return (uint64_t)cpuc_first();
	if (count_glimpse(c, armed, now, &n))
		return n;
	/* Before the guard's system calls, at which switches often come. A
	 * fresh thread has no word yet. */
	CPUC_FENCE();
	stood = c->state == CPUC_COUNT_OPEN &&
		cpuc_rseq_stands(&c->rseq, armed);
	if (!cpuc_guard_enter(&guard))
		return count_inside(c);
	n = count_close(c, armed, now, stood);
	cpuc_guard_leave(&guard);
	count_open(c);
	return n;
}

/* Not inline: a fibre may go on in another thread. */
__attribute__((noinline)) long long cpuc_count_interruptions(void)
{
	struct cpuc_core_count *c = &cpuc_own_count;

	if (cpuc_calibration_done())
		cpuc_count(cpuc_calibration.clock->tick);
	else if (c->rseq.word == NULL)
		cpuc_rseq_begin(&c->rseq, cpuc_rseq_own());
	else if (cpuc_rseq_rearm(&c->rseq))
		c->interruptions = c->interruptions + 1;
	return cpuc_rseq_interruptions(&c->rseq, c->interruptions);
}
