/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, where the fast path gives up: the count is
 * due for a look at the thread's clock or for a measurement, or the thread was
 * interrupted.
 *
 * A reading may be too high, never too low. The thread's clock says for how
 * long the thread ran since the clock was last read. It has not run for longer
 * since its latest count, so the count goes on by that much at most. */
#include <config.h>
#include "calibrated.h"
#include "clock.h"
#include "first_call.h"

/* Ticks from one look at the thread's clock to the next; and for a while after
 * a wait, since another may follow each few milliseconds. */
#define LOOK (uint32_t)(cpuc_calibration.hz / 1000)
#define DENSE (uint32_t)(cpuc_calibration.hz / 16384)
#define DENSE_LOOKS 1024

/* Ticks in which a core gets to a new rate. */
#define RAMP (cpuc_calibration.hz / 1000)

/* A count may be too high by this part of the time for which the thread runs,
 * and by so many ticks at once. */
#define SPARE 200
#define SPARE_MOST (cpuc_calibration.hz / 2500)

/* Ticks that are not worth leaving out: the clocks' rates differ a little. */
#define SLACK(d) (cpuc_calibration.hz / 500000 + (d) / 1024)

CPUC_THREAD struct cpuc_core_count cpuc_own_count;

static uint64_t count_tick(void)
{
	return (uint64_t)cpuc_calibration.ops->tick();
}

/* Ticks from one to the other; 0 where this core's clock is behind the last
 * one's. */
static uint64_t count_since(uint64_t tick, uint64_t t)
{
	return (int64_t)(t - tick) < 0 ? 0 : t - tick;
}

static uint64_t count_latest(const struct cpuc_core_count *c)
{
	return c->cycles + cpuc_ratio_scaled(c->seen, c->ratio.mean);
}

/* Whether the thread's clock says how long it ran since c->tick. A child's
 * begins at 0. */
static bool count_knows(const struct cpuc_core_count *c, uint64_t ran)
{
	return c->ran != 0 && ran >= c->ran && *c->process != 0;
}

/* Of the d ticks after c->tick, those that count: d, or as many as the thread
 * ran, and more where it cannot be told what is missing from which interval.
 * For the clock leaves out pauses that the kernel does not tell of, too (the
 * host's, and interrupts), and one before the latest count has been counted. So
 * the thread may have run since then for all of `ran`.
 *
 * But as a rule there was no such pause, and this would make sums too high. So
 * after an interruption no more than `spare` is added: a part of the time, and
 * all such pauses that were seen. */
static uint64_t count_run(struct cpuc_core_count *c, uint64_t d, uint64_t ran,
			  bool interrupted)
{
	uint64_t more = c->seen, spare = c->spare + ran / SPARE;

	if (!interrupted && d > ran)
		spare += d - ran;
	c->spare = (uint32_t)(spare < SPARE_MOST ? spare : SPARE_MOST);
	if (d <= ran + SLACK(d))
		return d;
	if (interrupted && more > c->spare)
		more = c->spare;
	if (d <= ran + more)
		more = d - ran;
	else
		c->dense = DENSE_LOOKS;
	if (interrupted)
		c->spare -= (uint32_t)more;
	return ran + more;
}

/* Ticks from c->tick to t that count. A clock that is further behind than cores
 * are has begun anew, as after a suspend. */
static uint64_t count_ticks(struct cpuc_core_count *c, uint64_t t, uint64_t ran,
			    uint32_t wait, bool interrupted)
{
	uint64_t d = count_since(c->tick, t), ns = ran - c->ran;

	if (count_since(t, c->tick) > CPUC_RATIO_LONG)
		d = wait;
	else if (count_knows(c, ran))
		d = count_run(c, d,
			      ns / 1000000000 * cpuc_calibration.hz +
				      ns % 1000000000 * cpuc_calibration.hz /
					      1000000000,
			      interrupted);
	return d > c->seen ? d : c->seen;
}

/* From here on a call in the midst gets the highest count, and one more. */
static void count_close(struct cpuc_core_count *c)
{
	c->due = 0;
	CPUC_FENCE();
	c->given = count_latest(c);
	CPUC_FENCE();
	c->wait = 0;
	CPUC_FENCE();
}

/* Leaves the count closed, for cpuc_calibrated_anew(), at n, or at what calls in
 * the midst got. */
static uint64_t count_settle(struct cpuc_core_count *c, uint64_t n, uint32_t wait)
{
	const volatile uint64_t *given = &c->given;

	c->seen = 0;
	c->cycles = n;
	c->tick = count_tick();
	CPUC_FENCE();
	while (n < *given)
		c->cycles = n = *given;
	c->wait = wait;
	CPUC_FENCE();
	return n;
}

/* The thread's first count. */
static void count_begin(struct cpuc_core_count *c, uint64_t t)
{
	cpuc_rseq_word *word = cpuc_rseq_own();

	c->ratio.mean = cpuc_calibration.ratio;
	c->tick = t;
	c->cycles = cpuc_ratio_scaled(t, c->ratio.mean);
	c->spare = (uint32_t)SPARE_MOST;
	c->word = word != NULL ? word : &c->armed;
}

/* Reads the thread's clock, where the kernel tells of interruptions: elsewhere
 * nothing says when to do that. */
static uint64_t count_look(struct cpuc_core_count *c)
{
	uint64_t ran = 0;

	c->armed = cpuc_rseq_arm(c->word);
	if (c->word != &c->armed)
		ran = cpuc_clock_thread_ns();
	return ran;
}

/* The ticks to the next call of the slow path: a measurement, or a look. */
static uint32_t count_wait(struct cpuc_core_count *c, uint64_t t)
{
	uint32_t left = cpuc_ratio_left(&c->ratio, t), look = LOOK;

	if (c->dense > 0) {
		c->dense--;
		look = DENSE;
	}
	if (c->ran != 0 && left > look)
		left = look;
	return left > 0 ? left : 1;
}

/* The count at tick t, with `ratio` for as long as it was to last, and with the
 * one that has been measured since for what comes after. */
static uint64_t count_at(struct cpuc_core_count *c, uint64_t t, uint64_t ran,
			 uint32_t wait, uint64_t ratio, bool interrupted)
{
	uint64_t d = count_ticks(c, t, ran, wait, interrupted);
	uint64_t old = wait + RAMP;

	if (old > d)
		old = d;
	return c->cycles + cpuc_ratio_scaled(old, ratio) +
	       cpuc_ratio_scaled(d - old, c->ratio.mean);
}

/* Ends what the thread counted from, at the tick that its caller read, measures
 * if it is time for that, and begins anew. */
static uint64_t count_anew(struct cpuc_core_count *c, uintptr_t armed,
			   uint64_t d)
{
	uint64_t t = c->tick + d, ratio, ran, n;
	uint32_t wait = c->wait;
	bool interrupted;

	count_close(c);
	if (c->word == NULL)
		count_begin(c, t);
	/* A handler has done this since, and `seen` may be a tick of before. */
	if (c->armed != armed) {
		t = count_tick();
		d = count_since(c->tick, t);
		c->seen = d < wait ? (uint32_t)d : wait;
	}
	interrupted = c->armed != 0 && *c->word != c->armed;
	if (interrupted)
		cpuc_rseq_interrupted();
	ran = count_look(c);
	ratio = c->ratio.mean;
	if (cpuc_ratio_left(&c->ratio, t) == 0) {
		cpuc_ratio_measure(&c->ratio, t,
				   count_since(c->tick, t) >
					   wait + cpuc_ratio_usual());
		c->cpu = cpuc_rseq_cpu();
	} else if (interrupted && c->cpu != cpuc_rseq_cpu()) {
		cpuc_ratio_moved(&c->ratio, t);
	}
	n = count_at(c, t, ran, wait, ratio, interrupted);
	c->ran = ran;
	if (ran != 0)
		c->process = cpuc_process_word();
	return count_settle(c, n, count_wait(c, t));
}

/* A call in the midst of that: in the handler of a fault, or of any signal
 * where none can be blocked. */
static uint64_t count_midst(struct cpuc_core_count *c)
{
	if (c->wait == 0)
		return ++c->given;
	c->cycles++;
	return count_latest(c);
}

uint64_t cpuc_calibrated_slow(uintptr_t armed, uint64_t d)
{
	struct cpuc_core_count *c = &cpuc_own_count;
	struct cpuc_guard guard;
	uint64_t n;

	/* Orders the calibration after the caller's load of cpucycles on
	 * weakly ordered CPUs; a thread's first call always comes here. */
	if (__atomic_load_n(&cpuc_calibration.ops, __ATOMIC_ACQUIRE) == NULL)
		return (uint64_t)cpuc_first();
	if (!cpuc_guard_enter(&guard))
		return count_midst(c);
	n = count_anew(c, armed, d);
	cpuc_guard_leave(&guard);
	return n;
}
