/* SPDX-License-Identifier: 0BSD */
/* How a thread counts, and checks of it: order, rate, width. */
#include <config.h>
#include <time.h>
#ifndef _WIN32
#include <sys/resource.h>
#endif
#include "../common/stats.h"
#include "../common/tool.h"
#include "counting.h"

#define BATCH 2000          /* calls between two looks at the clock */
#define WINDOW_NS 300000    /* shorter than a scheduler's time slice */
#define WINDOW_MAX 50000000 /* for a clock that steps in milliseconds */
#define WINDOW_STEPS 200    /* of the count in a window: errors of 0.5% */
#define WINDOWS_MAX 499
#define WINDOWS_MIN 9
#define PATIENCE 10  /* times as long as a rate should take */
#define TURNS 100000 /* of a loop: tens of microseconds */
#define STEPS 1000   /* changes of the count to look at */

#define BITS32 4294967296.0
#define MARGIN 0.2 /* of 2^32 more: the core's rate may fall meanwhile */
/* Percent. A count that loses 2^32 has less than 17% left. Within seconds a
 * core may slow down by half, as it heats up, so that the mean of its rate
 * before and after is not that of the time between. */
#define TOLERANCE_WRAP 50

/* It does not read the clock: where that is a system call, the thread would
 * spend its time in the kernel, which some counters leave out. */
void counting_work(void)
{
	int i;

	for (i = 0; i < TURNS; i++)
		__asm__ __volatile__("");
}

long long counting_step(long long last)
{
	long long end = tool_ns() + 1000000000, step;
	int i;

	do
		for (i = 0; i < BATCH; i++)
			if ((step = cpucycles() - last) > 0)
				return step;
	while (tool_ns() < end);
	return 0;
}

void counting_order(struct counting_order *o, long long ns)
{
	long long end = tool_ns() + ns, now;
	int i;

	do {
		for (i = 0; i < BATCH; i++) {
			now = cpucycles();
			o->back += now < o->last;
			if (o->last - now > o->worst)
				o->worst = o->last - now;
			o->last = now;
		}
		o->calls += BATCH;
	} while (tool_ns() < end);
}

/* The time in which the counter counts, as far as it can be had. */
static clockid_t counting_clock_id(const struct selftest *t)
{
	return t->counter.per_thread && tool_thread_clock()
		       ? CLOCK_THREAD_CPUTIME_ID
		       : CLOCK_MONOTONIC;
}

/* Counts per second in one window. A calibrated counter may measure in a call,
 * and leaves out the time that this takes: before the window here, and after
 * it. The thread's clock is a system call, so it is read twice only. */
static long long counting_window(clockid_t clock, double length)
{
	long long begin, end, count, ns;

	cpucycles();
	begin = tool_clock_ns(clock);
	count = cpucycles();
	end = tool_ns() + (long long)length;
	do
		counting_work();
	while (tool_ns() < end);
	ns = tool_clock_ns(clock) - begin;
	count = cpucycles() - count;
	return (long long)((double)count * 1e9 / (double)ns);
}

/* How often the thread has lost the CPU, where the system tells. */
static long counting_lost(void)
{
#ifdef RUSAGE_THREAD
	struct rusage u;

	if (getrusage(RUSAGE_THREAD, &u) == 0)
		return u.ru_nivcsw;
#endif
	return 0;
}

/* The core's rate changes from one window to the next, so it is observed before
 * and after each. Medians leave out the windows that were interrupted. Those in
 * which others took the CPU again and again come last, as what the thread's
 * clock lacks each time may be counted; with several threads on the only CPU,
 * there may be no others. */
bool counting_rate(const struct selftest *t, int ms, struct selftest_rate *r)
{
	long long (*right)(void) = selftest_follows(t)
					   ? cpucycles_observepersecond
					   : cpucycles_persecond;
	long long begin = tool_ns(), end = begin + ms * 1000000LL;
	long long last = begin + ms * 1000000LL * PATIENCE;
	long long ppm[WINDOWS_MAX], hz[WINDOWS_MAX], before, after;
	double length = (double)t->counter.precision * WINDOW_STEPS * 1e9 /
			(double)cpucycles_persecond();
	long lost;
	int n = 0, tries = 0;

	length = length < WINDOW_NS ? WINDOW_NS : length;
	length = length > WINDOW_MAX ? WINDOW_MAX : length;
	while (n < WINDOWS_MAX && tries++ < 5 * WINDOWS_MAX &&
	       (n < WINDOWS_MIN || tool_ns() < end)) {
		before = right();
		lost = counting_lost();
		hz[n] = counting_window(counting_clock_id(t), length);
		after = right();
		if (counting_lost() > lost + 1 && tries < 4 * WINDOWS_MAX &&
		    tool_ns() < last)
			continue;
		/* A core counter that stands still cannot be observed. */
		if (hz[n] == 0)
			before = after = 1;
		if (before == 0 || after == 0)
			continue;
		ppm[n] = (long long)((double)hz[n] * 2e6 /
				     ((double)before + (double)after));
		n++;
	}
	if (n < WINDOWS_MIN)
		return false;
	*r = (struct selftest_rate){stats_median(ppm, n), stats_median(hz, n),
				    n};
	return true;
}

enum outcome counting_monotone(struct selftest *t)
{
	struct counting_order o = {.last = cpucycles()};

	counting_order(&o, t->ms * 1000000LL);
	return say(t, o.back > 0 ? BAD : GOOD,
		   "%lld of %lld counts went back, by %lld at most", o.back,
		   o.calls, o.worst);
}

enum outcome counting_advances(struct selftest *t)
{
	long long end = tool_ns() + t->ms * 1000000LL;
	long long last = cpucycles(), step, n = 0;

	do {
		step = counting_step(last);
		last += step;
		n++;
	} while (step > 0 && n < STEPS && (n < 3 || tool_ns() < end));
	return say(t, step > 0 ? GOOD : BAD, "%lld steps%s, at %lld", n,
		   step > 0 ? "" : ", then a second without one", last);
}

/* Clocks are taken to run at their stated rate, within 1%. A core's rate may
 * dither by 1%, and the chains that observe it take up to 4% longer while an
 * SMT sibling is busy. */
enum outcome counting_clock(struct selftest *t)
{
	bool follows = selftest_follows(t);
	int tolerance = follows ? 6 : 2;
	double percent = (double)t->base.ppm / 1e4;

	return say(t, selftest_near(percent, tolerance) ? GOOD : OFF,
		   "%lld a second, %.2f%% of cpucycles_%spersecond() "
		   "(median of %d windows, tolerance %d%%)",
		   t->base.hz, percent, follows ? "observe" : "",
		   t->base.windows, tolerance);
}

/* Makes no call of cpucycles() meanwhile: a count extended from 32 bits has to
 * notice a wraparound without help. But a 32-bit counter of core cycles may
 * depend on calls, because nobody knows when it wraps. */
enum outcome counting_wrap32(struct selftest *t)
{
	bool call = selftest_follows(t) && t->counter.bits == 32;
	clockid_t clock = counting_clock_id(t);
	double cycles = BITS32 * (1 + MARGIN), seconds, percent;
	struct selftest_rate after;
	long long count, start, ns;

	/* The hardware's 2^32. */
	if (t->counter.bits == 32 && t->counter.scaling > 1)
		cycles *= t->counter.scaling;
	seconds = cycles / (double)t->base.hz;
	if (!(seconds < t->wait_s))
		return say(t, SKIPPED,
			   "takes %.1f seconds; this run waits at most %d",
			   seconds, t->wait_s);
	start = tool_clock_ns(clock);
	count = cpucycles();
	do {
		counting_work();
		if (call)
			cpucycles();
		ns = tool_clock_ns(clock) - start;
	} while ((double)ns < seconds * 1e9);
	count = cpucycles() - count;
	if (!counting_rate(t, t->ms / 10, &after))
		after = t->base;
	percent = (double)count * 2e11 / (double)ns /
		  (double)(t->base.hz + after.hz);
	return say(t, selftest_near(percent, TOLERANCE_WRAP) ? GOOD : BAD,
		   "%lld cycles in %.1f seconds, %.2f%% of those expected",
		   count, (double)ns / 1e9, percent);
}
