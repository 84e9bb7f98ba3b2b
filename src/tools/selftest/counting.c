/* SPDX-License-Identifier: 0BSD */
/* How a thread counts: order, rate, width, and code of known length. */
#include <config.h>
#include <math.h>
#include <stdlib.h>
#include "../common/known.h"
#include "../common/stats.h"
#include "../common/tool.h"
#include "selftest.h"

#define BATCH 2000       /* calls between two looks at the clock */
#define WINDOW_NS 300000 /* shorter than a scheduler's time slice */
#define WINDOW_STEPS 100 /* of the count in a window: errors of 1% */
#define WINDOWS_MAX 499
#define WINDOWS_MIN 9
#define PATIENCE 10    /* times as long as a rate should take */
#define UNDISTURBED 32 /* of a window others had less than this part */
#define TURNS 100000L  /* of a loop: tens of microseconds */
#define STEPS 1000     /* changes of the count to look at */

#define BITS32 4294967296.0
#define MARGIN 0.2 /* of 2^32 more: the core's rate may fall meanwhile */
/* Percent. A count that loses 2^32 has less than 17% left, unless the core gets
 * faster; as it heats up, it may slow down by more than half. */
#define TOLERANCE_WRAP 70

#define TIMINGS 1001
#define CHAIN_TOLERANCE 6 /* percent, of the chain that is disturbed least */
#define TRUST 8 /* percent: a busy SMT sibling costs a chain up to 4% */
#define LOOPS 9

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
	return t->counter.per_thread ? tool_thread_clock() : CLOCK_MONOTONIC;
}

/* Counts per second in one window, and whether nobody else had the CPU. A
 * calibrated counter may measure in a call, and leaves out the time that this
 * takes: before the window here, and after it. The thread's clock is a system
 * call, so it is read twice only. */
static long long counting_window(clockid_t clock, double length,
				 bool *undisturbed)
{
	long long begin, begun, count, now, ns;

	cpucycles();
	begin = tool_clock_ns(clock);
	count = cpucycles();
	begun = tool_ns();
	do
		counting_work();
	while ((double)((now = tool_ns()) - begun) < length);
	ns = tool_clock_ns(clock) - begin;
	count = cpucycles() - count;
	*undisturbed = now - begun - ns < ns / UNDISTURBED;
	return (long long)((double)count * 1e9 / (double)ns);
}

/* The core's rate changes from one window to the next, so it is observed before
 * and after each. Medians leave out the windows that were interrupted. Those in
 * which others, or the host, took the CPU come last, as what the thread's clock
 * lacks may be counted; with several threads on the only CPU, there may be no
 * others. */
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
	bool undisturbed;
	int n = 0, tries = 0;

	length = length < WINDOW_NS ? WINDOW_NS : length;
	while (n < WINDOWS_MAX && tries++ < 5 * WINDOWS_MAX &&
	       (n < WINDOWS_MIN || tool_ns() < end)) {
		before = right();
		hz[n] = counting_window(counting_clock_id(t), length,
					&undisturbed);
		after = right();
		if (before == 0 || after == 0 ||
		    (!undisturbed && tries < 4 * WINDOWS_MAX &&
		     tool_ns() < last))
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
	if (o.back > 0)
		return say(t, BAD,
			   "%lld of %lld counts went back, by %lld at most",
			   o.back, o.calls, o.worst);
	return say(t, GOOD, "none of %lld counts went back", o.calls);
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
	return say(t, step > 0 ? GOOD : BAD, "%lld steps%s", n,
		   step > 0 ? "" : ", then a second without one");
}

/* Clocks run at the stated rate, within 1%. A core's may dither by 1%, and the
 * chains that observe it take up to 4% longer while an SMT sibling is busy. */
enum outcome counting_clock(struct selftest *t)
{
	bool follows = selftest_follows(t);
	int tolerance = follows ? 6 : 2;
	double percent = (double)t->base.ppm / 1e4;

	return say(t, selftest_near(percent, tolerance) ? GOOD : OFF,
		   "%.3g GHz, %.1f%% of cpucycles_%spersecond() "
		   "(median of %d windows, tolerance %d%%)",
		   (double)t->base.hz / 1e9, percent, follows ? "observe" : "",
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
	percent = (double)count * 1e11 / (double)ns / (double)t->base.hz;
	return say(t, selftest_near(percent, TOLERANCE_WRAP) ? GOOD : BAD,
		   "%lld cycles in %.1f seconds, %.2f%% of those expected",
		   count, (double)ns / 1e9, percent);
}

/* Code of known length: chains of instructions of known latency, and a loop of
 * as many instructions. On an emulated CPU a chain takes any time, so each is
 * first compared with the others by CLOCK_MONOTONIC. */

/* Rows of timings: of nothing, of each chain. */
enum { NOTHING, FIRST, ROWS = FIRST + sizeof known / sizeof *known - 1 };

/* Medians; those of nothing are subtracted from the others. */
struct chain_lengths {
	long long count[ROWS + 1], ns[ROWS + 1]; /* some CPUs have no chain */
	int timings; /* of which these are the medians */
};

static void chain_measure(const struct selftest *t, struct chain_lengths *l)
{
	static long long count[ROWS][TIMINGS], ns[ROWS][TIMINGS];
	long long end = tool_ns() + t->ms * 1000000LL;
	const struct known *k;
	int n, row;

	/* They take turns, so that all see the same machine. */
	for (n = 0; n < TIMINGS && (n < 21 || tool_ns() < end); n++)
		for (row = 0; row < ROWS; row++) {
			k = row == NOTHING ? NULL : &known[row - FIRST];
			ns[row][n] = -tool_ns();
			count[row][n] = -cpucycles();
			if (k == NULL)
				known_nothing();
			else
				k->loop(KNOWN_CYCLES / k->turn);
			count[row][n] += cpucycles();
			ns[row][n] += tool_ns();
		}
	/* For nothing itself, the first, 0 is subtracted. */
	for (row = 0; row < ROWS; row++) {
		l->count[row] = stats_median(count[row], n) - l->count[NOTHING];
		l->ns[row] = stats_median(ns[row], n) - l->ns[NOTHING];
	}
	l->timings = n;
}

/* The row of the chain that is disturbed least; -1 if chains of as many cycles
 * do not take as long as each other. */
static int chain_best(const struct chain_lengths *l)
{
	double percent;
	int row, best = FIRST;

	for (row = FIRST; row < ROWS; row++) {
		percent = (double)l->ns[row] * 100 / (double)l->ns[FIRST];
		if (!selftest_near(percent, TRUST))
			return -1;
		if (l->ns[row] < l->ns[best])
			best = row;
	}
	return best;
}

enum outcome chain_check(struct selftest *t)
{
	struct chain_lengths l = {.timings = 0};
	double percent;
	int best;

	if (!known_usable())
		return say(t, SKIPPED, "no chain of known length for this CPU");
	chain_measure(t, &l);
	best = chain_best(&l);
	if (best < 0)
		return say(t, SKIPPED,
			   "chains of %d cycles differ in time, as on "
			   "an emulated CPU",
			   KNOWN_CYCLES);
	percent = (double)l.count[best] * 100 / KNOWN_CYCLES;
	if (!selftest_follows(t))
		return say(t, SKIPPED,
			   "a counter of kind %s need not count the "
			   "core's cycles: it counts %.3f for each",
			   t->counter.kind, percent / 100);
	return say(t, selftest_near(percent, CHAIN_TOLERANCE) ? GOOD : OFF,
		   "a chain of %d cycles (%s) counts as %lld, %.2f%% (median "
		   "of %d, tolerance %d%%), at %lld MHz",
		   KNOWN_CYCLES, known[best - FIRST].name, l.count[best],
		   percent, l.timings, CHAIN_TOLERANCE,
		   KNOWN_CYCLES * 1000LL / l.ns[best]);
}

/* The loop's instructions, without those of the calls, and how many a cycle.
 * Interrupts add some, so of several the best, and the ratio nearest to 1. */
static void chain_loop(long long right, long long *count, double *ratio)
{
	long long none, some, cycles[2], both[2];
	double r;
	int i;

	for (i = 0; i < LOOPS; i++) {
		none = -cpucycles_instructions();
		none += cpucycles_instructions();
		some = -cpucycles_instructions() - none;
		loop(TURNS);
		some += cpucycles_instructions();
		if (i == 0 || llabs(some - right) < llabs(*count - right))
			*count = some;
		cpucycles_pair(&cycles[0], &both[0]);
		loop(TURNS);
		cpucycles_pair(&cycles[1], &both[1]);
		r = (double)(both[1] - both[0]) /
		    (double)(cycles[1] - cycles[0]);
		if (i == 0 || fabs(r - 1) < fabs(*ratio - 1))
			*ratio = r;
	}
}

/* QEMU counts instructions and cycles by the host's clock. */
enum outcome chain_instructions(struct selftest *t)
{
	const long long right = LOOP_INSTRUCTIONS * TURNS,
			most = right / 10000 + 100;
	struct cpucycles_counter c;
	enum outcome outcome = OFF;
	long long count;
	double ratio;

	tool_instructions(&c);
	if (!c.usable)
		return say(t, SKIPPED, "%s", tool_why(&c));
	if (LOOP_INSTRUCTIONS == 0)
		return say(t, SKIPPED, "no loop of known length for this CPU");
	chain_loop(right, &count, &ratio);
	if (llabs(count - right) <= most && ratio > 0)
		outcome = GOOD;
	else if (fabs(ratio - 1) < 0.001)
		outcome = SKIPPED;
	return say(t, outcome,
		   "%s counts %lld for %lld, tolerance %lld; %.2f a cycle%s",
		   c.name, count, right, most, ratio,
		   outcome == SKIPPED ? ", as an emulated CPU does" : "");
}
