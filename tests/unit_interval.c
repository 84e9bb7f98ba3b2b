/* SPDX-License-Identifier: 0BSD */
/* What an interval counts, for random histories of a thread on random kernels:
 * never less than the thread's work since the latest count, and more only by
 * what is not to be known. */
#include <config.h>
#include <string.h>
#include "calibrated/calibration.h"
#include "calibrated/constants.h"
#include "calibrated/interval.h"
#include "calibrated/ratio.h"
#include "cases.h"

#define ONE (UINT64_C(1) << CPUC_RATIO_BITS)

/* The thread's history since its clock was last read, in ticks: it ran before
 * the latest count, and after it; it waited, or others had the CPU. */
static struct history {
	struct cpuc_interval seen;
	uint64_t work;   /* run since the latest count */
	uint64_t early;  /* of that, at the beginning's rate */
	uint64_t unseen; /* others' time that may pass for the thread's */
	uint64_t hidden; /* waits before the latest count, which were counted */
	uint64_t away;   /* since then */
} h;

static uint64_t up_to(uint64_t most)
{
	return most > 0 ? any(40) % most : 0;
}

/* Before the latest count: waits too short to show, if the kernel tells of
 * none.
 */
static void before(void)
{
	struct cpuc_interval *i = &h.seen;
	uint64_t ran, hidden;

	ran = up_to(COUNT_CLOCK / 2);
	i->unread = ran;
	ran += i->counted = up_to(COUNT_CLOCK / 2);
	for (; !i->told && rnd() % 2 == 0 && i->switches.own < 100;
	     i->switches.own++) {
		hidden = up_to(i->gap);
		if (rnd() % 2)
			i->unread += hidden;
		else
			i->counted += hidden;
		h.hidden += hidden;
	}
	i->ran = ran;
}

/* A preemption interrupts the thread on every kernel, and its clock may lack
 * the last microseconds that it ran. */
static void since(void)
{
	struct cpuc_interval *i = &h.seen;
	const uint64_t lack = COUNT_LACK;
	unsigned n;

	h.work = up_to(COUNT_CLOCK * 100);
	i->ran += h.work;
	for (n = (unsigned)rnd() % 4; n > 1; n--) {
		if (rnd() % 2) {
			i->switches.forced++;
			i->interrupted = true;
			i->ran -= up_to(lack < i->ran ? lack : i->ran);
			h.unseen += lack;
		} else {
			i->switches.own++;
			i->interrupted |= i->told;
		}
		h.away += up_to(COUNT_CLOCK * 100);
	}
	i->ticks = i->counted + h.work + h.away;
}

static void rates(void)
{
	struct cpuc_interval *i = &h.seen;

	i->begin = ONE / 4 + rnd() % (4 * ONE);
	i->end = rnd() % 2 ? i->begin : ONE / 4 + rnd() % (4 * ONE);
	i->moved = rnd() % 4 == 0;
	h.early = i->moved ? up_to(h.work + 1)
			   : up_to((h.work < COUNT_RAMP ? h.work : COUNT_RAMP) +
				   1);
}

static void history(void)
{
	struct cpuc_interval *i = &h.seen;

	memset(&h, 0, sizeof h);
	i->cycles = any(60);
	i->told = rnd() % 2;
	i->gap = i->told ? COUNT_GAP_TOLD : COUNT_GAP;
	i->clock = rnd() % 8 != 0;
	i->lack.lost = rnd() % 4 ? 0 : (uint32_t)up_to(COUNT_CLOCK);
	before();
	since();
	rates();
}

/* The part of the interval that no earlier call has counted. */
static double counted(const struct cpuc_closed *closed)
{
	return (double)(closed->cycles - h.seen.cycles -
			cpuc_ratio_scaled(h.seen.counted, h.seen.begin));
}

static bool too_low(const struct cpuc_closed *closed)
{
	double work = (double)cpuc_ratio_scaled(h.early, h.seen.begin) +
		      (double)cpuc_ratio_scaled(h.work - h.early, h.seen.end);

	/* Each product is cut. */
	return counted(closed) < work - 4 ||
	       closed->cycles <
		       h.seen.cycles +
			       cpuc_ratio_scaled(h.seen.counted, h.seen.begin);
}

/* Without a clock all of it counts. Else what passes for the thread's: what a
 * switch may have hidden, and what was lost without one. */
static bool too_high(const struct cpuc_closed *closed)
{
	const struct cpuc_interval *i = &h.seen;
	uint32_t n = i->switches.own + i->switches.forced;
	uint64_t most = i->clock ? h.work + h.unseen + i->lack.lost : i->ticks;
	uint64_t higher = i->begin > i->end ? i->begin : i->end;

	if (i->clock)
		most += n == 0 ? h.away : i->told ? h.hidden : n * i->gap;
	return counted(closed) > (double)cpuc_ratio_scaled(most, higher) + 4;
}

static void histories(long n)
{
	struct cpuc_closed closed;
	uint64_t at = 0, from;
	long low = 0, high = 0, k;

	for (k = 0; k < n; k++) {
		from = seed;
		history();
		closed = cpuc_interval_close(&h.seen);
		low += too_low(&closed);
		high += too_high(&closed);
		if (at == 0 && low + high > 0)
			at = from;
	}
	ok(low == 0, "%ld of %ld histories count less than the work", low, n);
	ok(high == 0, "%ld count more than may be unknown", high);
	if (at != 0)
		diag("SEED=%llu is the first", (unsigned long long)at);
}

/* One at a time: what is lost is learned from readings without a switch, and
 * forgotten; the clock of another core is behind. */
static void singly(void)
{
	struct cpuc_interval i = {.begin = ONE,
				  .end = ONE,
				  .clock = true,
				  .told = true,
				  .ticks = 1000000,
				  .counted = 400000,
				  .ran = 900000,
				  .gap = COUNT_GAP_TOLD};
	struct cpuc_closed closed = cpuc_interval_close(&i);

	ok(closed.ticks == 1000000 && closed.lack.lost == 100000,
	   "what is missing without a switch counts, and is lost: %u",
	   (unsigned)closed.lack.lost);
	i.lack.lost = closed.lack.lost;
	i.ran = i.ticks;
	closed = cpuc_interval_close(&i);
	ok(closed.lack.lost < i.lack.lost && closed.lack.lost > i.lack.lost / 2,
	   "is forgotten: %u", (unsigned)closed.lack.lost);
	i.switches.forced = 1;
	i.interrupted = true;
	ok(cpuc_interval_close(&i).lack.lost > closed.lack.lost,
	   "and less so beside a switch");
	i.ticks = i.counted - 1000;
	i.ran = i.counted + 5000;
	closed = cpuc_interval_close(&i);
	ok(closed.ticks == i.counted + 5000,
	   "a clock that is behind: the thread's own counts");
	i.clock = false;
	closed = cpuc_interval_close(&i);
	ok(closed.ticks == i.counted, "or nothing, if that is unknown");
	i = (struct cpuc_interval){.begin = ONE,
				   .end = ONE,
				   .clock = true,
				   .told = true,
				   .switches = {.own = 1},
				   .ticks = COUNT_GAP * 3,
				   .gap = COUNT_GAP_TOLD};
	ok(cpuc_interval_close(&i).untold, "a wait that did not interrupt");
	i.interrupted = true;
	ok(!cpuc_interval_close(&i).untold, "and one that did");
	/* A preemption shorter than a gap. */
	i.told = false;
	i.switches = (struct cpuc_switches){.forced = 1};
	i.gap = COUNT_GAP;
	i.ticks = 2 * COUNT_GAP;
	i.unread = COUNT_GAP;
	i.ran = i.unread + COUNT_GAP + 1;
	ok(cpuc_interval_close(&i).ticks == COUNT_GAP + 1 + COUNT_LACK,
	   "what interrupted came after the latest count");
}

/* An interval in which so many of `ticks` ran, by the thread's clock. */
static struct cpuc_interval of_ticks(uint64_t ticks, uint64_t ran)
{
	return (struct cpuc_interval){.begin = ONE,
				      .end = ONE,
				      .clock = true,
				      .told = true,
				      .ticks = ticks,
				      .ran = ran,
				      .gap = COUNT_GAP_TOLD};
}

/* What others take without a switch, once. */
static void taken(void)
{
	const uint64_t clock = COUNT_CLOCK;
	struct cpuc_interval i = of_ticks(3 * clock, clock);
	struct cpuc_closed closed = cpuc_interval_close(&i);

	ok(closed.ticks == i.ticks, "all counts without a switch");
	ok(closed.lack.lost <= clock,
	   "a long pause of the host's is not granted again in full: %u",
	   (unsigned)closed.lack.lost);
	ok(closed.lack.slow <= UINT16_MAX / 8,
	   "nor does it show that the thread's clock is slow: %u",
	   closed.lack.slow);
	i = of_ticks(clock / 16, clock / 32);
	ok(cpuc_interval_close(&i).lack.slow == 0, "nor does a short time");
}

/* Waits that are told, and one that was not. */
static void untold(void)
{
	struct cpuc_interval i = of_ticks(3 * COUNT_GAP, 0);

	i.switches.forced = 1;
	ok(!cpuc_interval_close(&i).untold, "a preemption is no wait");
	i = of_ticks(COUNT_GAP, COUNT_GAP / 2);
	i.switches.own = 1;
	ok(!cpuc_interval_close(&i).untold,
	   "nor is what is missing so briefly");
	i = of_ticks(3 * COUNT_GAP, COUNT_GAP / 2);
	i.counted = i.ticks - i.ran;
	i.switches.own = 1;
	ok(cpuc_interval_close(&i).ticks == i.ticks,
	   "a wait that was not told may be before the latest count");
	i.interrupted = true;
	ok(cpuc_interval_close(&i).ticks == i.counted,
	   "one that was told is after it, and no longer than that");
}

int main(void)
{
	cpuc_calibration.hz = 2500000000;
	histories(cases_begin(1000000));
	singly();
	taken();
	untold();
	return done_testing();
}
