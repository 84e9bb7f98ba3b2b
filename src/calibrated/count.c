/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, where the fast path gives up: the count is
 * due for a look at the thread's clock or for a measurement, or the thread was
 * interrupted.
 *
 * In doubt a reading is too high, not too low. The thread's clock says for how
 * long the thread ran since the clock was last read. It has not run for longer
 * since its latest count, so the count goes on by that much at most. */
#include <config.h>
#include "../clock.h"
#include "../first_call.h"
#include "../system/os_clock.h"
#include "count.h"

/* Ticks from one look at the thread's clock to the next, at most; at least,
 * together with a look at the core's rate; and for so many looks after a wait
 * that came soon after another, as more may follow each few milliseconds. */
#define LOOK (uint32_t)(cpuc_calibration.hz / 400)
#define LOOK_LEAST (uint32_t)(cpuc_calibration.hz / 1600)
#define DENSE (uint32_t)(cpuc_calibration.hz / 16384)
#define DENSE_LOOKS 128
#define DENSE_SOON (cpuc_calibration.hz / 50)

/* Ticks in which a core gets to a new rate. */
#define RAMP (cpuc_calibration.hz / 1000)

/* A count may be too high by this part of the time for which the thread runs;
 * and at once by so many ticks as lie between two looks, or by fewer in a
 * thread's first intervals. */
#define SPARE 150
#define BUDGET LOOK
#define BUDGET_FIRST (cpuc_calibration.hz / 25000)

/* Ticks of a pause that is no wait: those take longer. */
#define PAUSE (cpuc_calibration.hz / 100000)

/* Ticks that the thread's clock may lack after a preemption. Linux stops the
 * clock when a wakeup on another CPU asks for this one
 * (rq_clock_skip_update()), and the thread runs on until the interrupt comes,
 * which takes a virtual CPU up to 20 us. */
#define LACKS (cpuc_calibration.hz / 50000)

/* Ticks that are not worth leaving out: the clocks' rates differ a little. */
#define SLACK(d) (cpuc_calibration.hz / 500000 + (d) / 1024)

CPUC_OWN_DEFINE(struct cpuc_core_count, cpuc_own_count, {0});

static uint64_t count_tick(void)
{
	return (uint64_t)cpuc_calibration.clock->tick();
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

/* The thread's history since the last such question: it ran, or waited, or
 * others took the CPU. */
enum count_pause { RAN, WAITED, PREEMPTED };

static enum count_pause count_pause(struct cpuc_core_count *c)
{
	const struct cpuc_switches before = c->switches;

	c->switches = cpuc_rseq_switches();
	if (c->switches.forced != before.forced)
		return PREEMPTED;
	return c->switches.own != before.own ? WAITED : RAN;
}

static void count_earn(struct cpuc_core_count *c, uint64_t ticks)
{
	ticks += c->spare;
	c->spare = (uint32_t)(ticks < BUDGET ? ticks : BUDGET);
}

static uint32_t count_spend(struct cpuc_core_count *c, uint64_t ticks)
{
	uint32_t n = ticks < c->spare ? (uint32_t)ticks : c->spare;

	c->spare -= n;
	return n;
}

/* Of the d ticks since the thread's clock was read, those that count: d, or as
 * many as the thread ran, and more where a pause may belong to an earlier
 * interval. For the clock leaves out pauses that the kernel does not report,
 * too (the host's, and interrupts), and one before the latest count has been
 * counted. So the thread may have run since then for all of `ran`.
 *
 * But as a rule there was no such pause, and sums would be too high. So there
 * is a budget for additions after a wait: the pauses that were seen, and a part
 * of the time. */
static uint64_t count_run(struct cpuc_core_count *c, uint64_t d, uint64_t ran,
			  enum count_pause pause)
{
	uint64_t missing = d > ran ? d - ran : 0;
	uint64_t counted = c->before + c->seen, more = counted + PAUSE;
	bool wait = pause != RAN && missing > PAUSE;

	count_earn(c, ran / SPARE + (wait ? 0 : missing));
	if (missing <= SLACK(d))
		return d;
	if (wait) {
		if (c->ran + ran - c->waited < DENSE_SOON)
			c->dense = DENSE_LOOKS;
		c->waited = c->ran + ran;
		counted = counted < missing ? counted : missing;
		if (pause == PREEMPTED)
			counted += LACKS;
		more = count_spend(c, counted);
	}
	return more < missing ? ran + more : d;
}

/* Ticks from c->tick to t that count. A clock that is further behind than cores
 * are has begun anew, as after a suspend. The thread's clock is unknown in a
 * child, where it begins at 0. */
static uint64_t count_ticks(struct cpuc_core_count *c, uint64_t t, uint64_t ran,
			    uint32_t wait, enum count_pause pause)
{
	uint64_t d = count_since(c->tick, t), n;

	if (count_since(t, c->tick) > CPUC_RATIO_LONG)
		d = wait;
	else if (c->ran != 0 && ran >= c->ran && *c->process != 0) {
		n = count_run(c, c->before + d, ran - c->ran, pause);
		d = n > c->before ? n - c->before : 0;
	}
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

/* Leaves the count closed, for cpuc_count_anew(), at n, or at the highest count
 * of calls in the midst. */
static uint64_t count_restart(struct cpuc_core_count *c, uint64_t n,
			      uint32_t wait)
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
	c->spare = (uint32_t)BUDGET_FIRST;
	c->word = word != NULL ? word : &c->armed;
	if (word != NULL)
		c->switches = cpuc_rseq_switches();
}

/* Whether a move to another core is seen by nothing but its number. */
static bool count_asks_cpu(const struct cpuc_core_count *c)
{
	return CPUC_TELLS_CPU && c->word == &c->armed;
}

/* The ticks to the next call of the slow path: a measurement, or a look. */
static uint32_t count_wait(struct cpuc_core_count *c, uint64_t t)
{
	uint32_t left = cpuc_ratio_left(&c->ratio, t);
	uint32_t look = c->word != &c->armed ? LOOK : 2 * CPUC_COUNT_SOON;

	look = look > c->before ? look - c->before : 0;
	if (c->dense > 0) {
		c->dense--;
		look = DENSE;
	}
	if (c->ran != 0 && left > look)
		left = look;
	if (count_asks_cpu(c) && left > CPUC_COUNT_SOON)
		left = CPUC_COUNT_SOON;
	return left > 0 ? left : 1;
}

/* The count at tick t: `ratio` holds for as long as it was to last, and the one
 * that has been measured since for the ticks after that. */
static uint64_t count_at(struct cpuc_core_count *c, uint64_t t, uint64_t ran,
			 uint32_t wait, uint64_t ratio, enum count_pause pause)
{
	uint64_t d = count_ticks(c, t, ran, wait, pause);
	uint64_t old = wait + RAMP;

	if (old > d)
		old = d;
	return c->cycles + cpuc_ratio_scaled(old, ratio) +
	       cpuc_ratio_scaled(d - old, c->ratio.mean);
}

/* Without reports of interruptions the thread's clock is read at each look
 * alone: up to a millisecond of a pause is counted. */
static bool count_has_clock(const struct cpuc_core_count *c)
{
	return c->word != &c->armed || cpuc_calibration.thread_clock;
}

/* The thread's clock, in the count's ticks. */
static uint64_t count_clock(const struct cpuc_core_count *c)
{
	return count_has_clock(c) ? cpuc_os_clock_thread(cpuc_calibration.hz)
				  : 0;
}

static void count_ran(struct cpuc_core_count *c, uint64_t ran)
{
	c->ran = ran;
	c->before = 0;
	if (ran != 0)
		c->process = cpuc_process_mark();
}

/* Whether the thread's clock is to be read: it takes as long as a look. */
static bool count_clock_due(const struct cpuc_core_count *c, uint64_t d)
{
	return count_has_clock(c) &&
	       (c->ran == 0 || c->dense > 0 || c->before + d >= LOOK_LEAST);
}

/* Whether to look at the rate: when that is due, or soon will be. */
static bool count_look_due(const struct cpuc_core_count *c, uint64_t t,
			   bool soon)
{
	return cpuc_ratio_left(&c->ratio, t) <=
	       (soon && c->dense == 0 ? LOOK_LEAST : 0);
}

/* Whether the thread was interrupted since the word was last armed, which it is
 * now. */
static bool count_rearm(struct cpuc_core_count *c, enum count_pause *pause)
{
	const bool interrupted = c->armed != 0 && *c->word != c->armed;

	if (interrupted) {
		cpuc_rseq_interrupted();
		*pause = count_pause(c);
	}
	c->armed = cpuc_rseq_arm(c->word);
	return interrupted;
}

/* Whether the count goes on, being due only for its age: then it is *n. As in
 * cpuc_count(), the check of the word comes last. */
static bool count_goes_on(struct cpuc_core_count *c, uintptr_t armed,
			  uint64_t d, uint64_t *n)
{
	uint32_t wait = c->wait;

	if (c->due == 0 || d >= wait || d < c->seen ||
	    d - c->seen >= CPUC_COUNT_SOON)
		return false;
	*n = c->cycles + cpuc_ratio_scaled(d, c->ratio.mean);
	c->seen = (uint32_t)d;
	c->due = wait - d < CPUC_COUNT_SOON ? wait
					    : (uint32_t)d + CPUC_COUNT_SOON;
	CPUC_FENCE();
	return *(const uintptr_t *)(uintptr_t)c->word == armed;
}

/* Closes the count at the tick that the caller read, looks at the rate or
 * measures it if that is due, and begins again from there. */
static uint64_t count_anew(struct cpuc_core_count *c, uintptr_t armed,
			   uint64_t d)
{
	uint64_t t = c->tick + d, ratio, ran = 0, n;
	uint32_t wait = c->wait;
	enum count_pause pause = RAN;
	bool interrupted, clocked, due, looked;

	count_close(c);
	if (c->word == NULL)
		count_begin(c, t);
	/* A handler has done this since, and `seen` may be a tick of before. */
	if (c->armed != armed) {
		t = count_tick();
		d = count_since(c->tick, t);
		c->seen = d < wait ? (uint32_t)d : wait;
	}
	interrupted = count_rearm(c, &pause);
	clocked = interrupted || count_clock_due(c, d);
	if (clocked)
		ran = count_clock(c);
	ratio = c->ratio.mean;
	if ((interrupted || count_asks_cpu(c)) && c->cpu != cpuc_rseq_cpu()) {
		c->cpu = cpuc_rseq_cpu();
		cpuc_ratio_moved(&c->ratio, t);
	}
	due = count_look_due(c, t, clocked && !interrupted);
	looked = due && cpuc_ratio_update(&c->ratio, t);
	n = count_at(c, t, ran, wait, ratio, pause);
	/* A measurement takes long, and is in no interval. */
	if (due && !looked) {
		ran = count_clock(c);
		clocked = true;
	}
	if (clocked)
		count_ran(c, ran);
	else
		c->before += (uint32_t)(d > c->seen ? d : c->seen);
	n = count_restart(c, n, count_wait(c, t));
	d = c->tick - t;
	if (!clocked && c->ran != 0)
		c->ran += d < c->ratio.cost ? d : c->ratio.cost;
	if (looked && !clocked)
		cpuc_ratio_took(&c->ratio, d);
	return n;
}

/* A call in the middle of that: in the handler of a fault, or of any signal
 * where none can be blocked. (If such a handler interrupts another one here,
 * counts may be lost.) */
static uint64_t count_midst(struct cpuc_core_count *c)
{
	/* The thread's first count, or it has no state of its own. */
	if (c->word == NULL)
		return c->given = cpuc_ratio_scaled(count_tick(),
						    cpuc_calibration.ratio);
	if (c->wait == 0)
		return ++c->given;
	c->cycles++;
	return count_latest(c);
}

bool cpuc_count_alone(void)
{
	return cpuc_rseq_available() ||
	       (cpuc_calibration_done() && cpuc_calibration.thread_clock);
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
	if (!cpuc_guard_inside && count_goes_on(c, armed, d, &n))
		return n;
	if (!cpuc_guard_enter(&guard))
		return count_midst(c);
	n = count_anew(c, armed, d);
	cpuc_guard_leave(&guard);
	return n;
}
