/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, where the fast path gives up: the count is
 * due for a reading of the thread's clock or for a look at the core's rate, the
 * latest count is so old that the thread may have waited since, or the thread
 * was interrupted.
 *
 * The interval since the latest count ends there, and another one begins. The
 * thread's clock says for how long the thread ran since that clock was last
 * read. What is missing is left out of the interval, less what earlier
 * intervals may have lacked: a count may be too high, never too low. */
#include <config.h>
#include "../rate/clock.h"
#include "../first_call.h"
#include "../system/os_clock.h"
#include "constants.h"
#include "count.h"

CPUC_TLS struct cpuc_core_count cpuc_own_count;

static uint64_t count_tick(void)
{
	return (uint64_t)cpuc_calibration.clock->tick();
}

/* Ticks from `tick` to t; 0 if this core's clock is behind the last one's. */
static uint64_t count_since(uint64_t tick, uint64_t t)
{
	return (int64_t)(t - tick) < 0 ? 0 : t - tick;
}

static uint64_t count_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Whether a wait clears the thread's word. */
static bool count_told(const struct cpuc_core_count *c)
{
	return c->rseq.word != &c->rseq.armed && cpuc_rseq_tells_waits();
}

/* A mark of the process tells a child from its parent. */
bool cpuc_count_alone(void)
{
	return cpuc_calibration_done() && cpuc_calibration.thread_clock &&
	       cpuc_process != NULL;
}

/* The thread's clock, in the count's ticks; 0: unknown. */
static uint64_t count_clock(void)
{
	return cpuc_count_alone() ? cpuc_os_clock_thread(cpuc_calibration.hz)
				  : 0;
}

static void count_clock_set(struct cpuc_core_count *c, uint64_t ran)
{
	c->ran = ran;
	c->unread = 0;
	if (ran != 0)
		c->process =
			(uint16_t)(cpuc_process_mark() - cpuc_process->mark);
}

/* Whether `ran` can be compared with the latest reading: not in a child, where
 * the clock begins at 0. */
static bool count_clock_follows(const struct cpuc_core_count *c, uint64_t ran)
{
	return c->ran != 0 && ran >= c->ran &&
	       cpuc_process->mark[c->process] != 0;
}

/* How often the thread was switched out since the last call of this; where
 * that is unknown, perhaps more than once. */
static struct cpuc_switches count_switches(struct cpuc_core_count *c)
{
	struct cpuc_switches now, n;

	if (!cpuc_rseq_switches(&now))
		return (struct cpuc_switches){2, 0};
	n.own = (uint16_t)(now.own - c->own);
	n.forced = (uint16_t)(now.forced - c->forced);
	c->own = (uint16_t)now.own;
	c->forced = (uint16_t)now.forced;
	return n;
}

/* Since the thread's clock was last read, it lacks `missing` ticks, and earlier
 * intervals counted `counted`. How many of the missing ones may be among those.
 * Where waits are not reported, each of the n switches may hide in an earlier
 * interval, for less than a gap; one that took longer is in this interval. What
 * the host took, `lost`, may hide there too. */
static uint64_t count_missed(struct cpuc_core_count *c, uint64_t missing,
			     uint64_t counted, uint32_t n, bool interrupted)
{
	uint64_t most = (uint64_t)n * c->gap;

	if (count_told(c))
		most = 0;
	else if (interrupted || missing > most)
		most -= c->gap;
	return count_least(most + c->lost, count_least(missing, counted));
}

/* For how many of this interval's d ticks the thread certainly did not run.
 * Without a switch, the host or an interrupt had the CPU: that time counts, and
 * as much may be missing again. */
static uint64_t count_pause(struct cpuc_core_count *c, uint64_t d,
			    uint64_t missing, uint64_t counted,
			    bool interrupted)
{
	struct cpuc_switches n = {0, 0};
	uint64_t pause;

	if (interrupted || missing > 0)
		n = count_switches(c);
	c->lost -= c->lost / 8;
	if (n.own + n.forced == 0) {
		if (missing > c->lost)
			c->lost = (uint32_t)count_least(missing, COUNT_CLOCK);
		return 0;
	}
	if (n.forced == 0 && !interrupted && missing > COUNT_GAP)
		cpuc_rseq_missed_wait();
	pause = missing - count_missed(c, missing, counted, n.own + n.forced,
				       interrupted);
	return count_since(n.forced * COUNT_LACK, count_least(pause, d));
}

/* How many of the d ticks since the interval began count; the first `seen` have
 * been counted. `ran`: the thread's time since its clock was last read. */
static uint64_t count_ticks(struct cpuc_core_count *c, uint64_t d,
			    uint64_t seen, uint64_t ran, bool interrupted)
{
	uint64_t counted = c->unread + seen;

	/* The clock of this core is behind. */
	if ((int64_t)(d - seen) < 0)
		return seen + count_since(counted, ran);
	return d - count_pause(c, d - seen, count_since(ran, c->unread + d),
			       counted, interrupted);
}

/* The count after d ticks: by `ratio` for as long as that was to hold, and by
 * the one measured since for the rest. */
static uint64_t count_cycles(const struct cpuc_core_count *c, uint64_t d,
			     uint64_t held, uint64_t ratio)
{
	uint64_t old = count_least(held + COUNT_RAMP, d);

	return c->cycles + cpuc_ratio_scaled(old, ratio) +
	       cpuc_ratio_scaled(d - old, c->ratio.mean);
}

/* The thread's first count. */
static void count_begin(struct cpuc_core_count *c, uint64_t t)
{
	cpuc_ratio_first(&c->ratio, t);
	c->tick = t;
	c->cycles = cpuc_ratio_scaled(t, c->ratio.mean);
	cpuc_rseq_begin(&c->rseq, cpuc_rseq_own());
	count_switches(c);
}

/* Whether the thread is on another CPU than before. */
static bool count_migrated(struct cpuc_core_count *c)
{
	uint16_t last = c->ratio.cpu;

	c->ratio.cpu = (uint16_t)cpuc_rseq_cpu();
	return c->ratio.cpu != last;
}

/* Of the interval's d ticks, those up to the latest count. If a call that a
 * handler interrupted has stored a tick from before the interval, they are
 * unknown: all count as seen then, and the thread's clock is asked. */
static uint64_t count_seen(const struct cpuc_core_count *c, uint64_t d)
{
	uint32_t seen = c->last - (uint32_t)c->tick;

	if (c->state != CPUC_COUNT_OPEN)
		return 0;
	return seen <= COUNT_CLOCK
		       ? seen
		       : count_least(count_since(0, d), COUNT_CLOCK);
}

/* From here on a call in the midst gets one more than the highest count. */
static void count_midst_begin(struct cpuc_core_count *c, uint64_t seen)
{
	c->given = cpuc_count_at(c, seen);
	CPUC_FENCE();
	c->state = CPUC_COUNT_MIDST;
	CPUC_FENCE();
}

/* Closes the interval at n, or at the highest count of calls in the midst. */
static uint64_t count_midst_end(struct cpuc_core_count *c, uint64_t n)
{
	const volatile uint64_t *given = &c->given;

	do
		c->cycles = n = n > *given ? n : *given;
	while (n < *given);
	CPUC_FENCE();
	c->state = CPUC_COUNT_CLOSED;
	CPUC_FENCE();
	c->tick = count_tick();
	return n;
}

/* An interval begins at a tick that is read last of all, when signals are no
 * longer blocked: the slow path's time is in nobody's count. The word is armed
 * once more before that, as a tracer's stop at the latest system call clears
 * it. A handler that ran in between has opened the count already. (If it runs
 * just before the tick is stored, its time counts twice: never too little.) */
static void count_open(struct cpuc_core_count *c)
{
	const uintptr_t armed = c->rseq.armed;
	uint64_t due = count_since(c->unread, COUNT_CLOCK), t;

	/* It changes only when the thread's clock has just been read. */
	if (c->unread == 0)
		c->gap = count_told(c) ? COUNT_GAP_TOLD : COUNT_GAP;
	due = count_least(due, c->ratio.until);
	if (c->state == CPUC_COUNT_CLOSED)
		cpuc_rseq_again(&c->rseq);
	t = count_tick();
	CPUC_FENCE();
	if (c->state != CPUC_COUNT_CLOSED)
		return;
	c->tick = t;
	CPUC_FENCE();
	/* Else a handler has set `last`. */
	if (c->rseq.armed == armed)
		c->last = (uint32_t)t;
	CPUC_FENCE();
	c->state = CPUC_COUNT_OPEN;
	CPUC_FENCE();
	c->due = due > 0 ? (uint32_t)due : 1;
}

/* Ends the interval at the tick that the caller read, and looks at the rate or
 * measures it if that is due. */
static uint64_t count_anew(struct cpuc_core_count *c, uintptr_t armed,
			   uint64_t d)
{
	uint64_t t = c->tick + d, held = c->due, ratio, ran = 0, seen, n;
	const bool fresh = c->state == CPUC_COUNT_FRESH;
	bool interrupted, asks, follows, measured;

	c->due = 0;
	CPUC_FENCE();
	if (fresh)
		count_begin(c, t);
	/* A handler has ended that interval. */
	else if (c->rseq.armed != armed)
		t = count_tick();
	d = t - c->tick;
	seen = count_seen(c, d);
	ratio = c->ratio.mean;
	count_midst_begin(c, seen);
	interrupted = cpuc_rseq_rearm(&c->rseq);
	c->interrupted = c->interrupted + interrupted;
	asks = interrupted || d == seen || d - seen >= c->gap ||
	       c->unread + d >= COUNT_CLOCK - COUNT_CLOCK / 8;
	if (asks)
		ran = count_clock();
	if (count_migrated(c))
		cpuc_ratio_migrated(&c->ratio);
	measured = cpuc_ratio_update(&c->ratio, count_since(0, d));
	follows = count_clock_follows(c, ran);
	if (follows)
		d = count_ticks(c, d, seen, ran - c->ran, interrupted);
	else
		d = seen + count_since(seen, d);
	n = fresh ? cpuc_ratio_scaled(count_tick(), ratio)
		  : count_cycles(c, d, held, ratio);
	/* A measurement takes long, and is in no interval. */
	if (measured)
		ran = count_clock();
	if (asks || measured) {
		/* A child's switches begin at 0, as its clock does. */
		if (!follows)
			count_switches(c);
		count_clock_set(c, ran);
	} else {
		c->unread += (uint32_t)d;
	}
	return count_midst_end(c, n);
}

/* A call in the middle of that: in the handler of a fault, or of any signal
 * where none can be blocked. (If such a handler interrupts another one here,
 * counts may be lost.) */
static uint64_t count_midst(struct cpuc_core_count *c)
{
	if (c->state == CPUC_COUNT_FRESH)
		return cpuc_ratio_scaled(count_tick(), cpuc_calibration.ratio);
	if (c->state == CPUC_COUNT_MIDST)
		return ++c->given;
	c->cycles++;
	return cpuc_count_at(c, count_seen(c, count_tick() - c->tick));
}

uint64_t cpuc_count_slow(uintptr_t armed, uint64_t d)
{
	struct cpuc_core_count *c = &cpuc_own_count;
	struct cpuc_guard guard;
	uint64_t n;

	/* Orders the calibration after the caller's load of cpucycles on
	 * weakly ordered CPUs; a thread's first call always comes here. */
	if (__atomic_load_n(&cpuc_calibration.clock, __ATOMIC_ACQUIRE) == NULL)
		return (uint64_t)cpuc_first();
	if (!cpuc_guard_enter(&guard))
		return count_midst(c);
	n = count_anew(c, armed, d);
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
	else
		c->interrupted = c->interrupted + cpuc_rseq_rearm(&c->rseq);
	return cpuc_rseq_interruptions(&c->rseq, c->interrupted);
}
