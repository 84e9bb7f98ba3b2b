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

	ran = up_to(COUNT_CLOCK_EVERY / 2);
	i->unread = ran;
	ran += i->counted = up_to(COUNT_CLOCK_EVERY / 2);
	for (; !i->waits_clear && rnd() % 2 == 0 && i->switches.voluntary < 100;
	     i->switches.voluntary++) {
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
	const uint64_t lack = COUNT_SWITCH_HIDES;
	unsigned n;

	h.work = up_to(COUNT_CLOCK_EVERY * 100);
	i->ran += h.work;
	for (n = (unsigned)rnd() % 4; n > 1; n--) {
		if (rnd() % 2) {
			i->switches.involuntary++;
			i->interrupted = true;
			i->ran -= up_to(lack < i->ran ? lack : i->ran);
			h.unseen += lack;
		} else {
			i->switches.voluntary++;
			i->interrupted |= i->waits_clear;
		}
		h.away += up_to(COUNT_CLOCK_EVERY * 100);
	}
	i->ticks = i->counted + h.work + h.away;
}

static void rates(void)
{
	struct cpuc_interval *i = &h.seen;

	i->ratio_before = ONE / 4 + rnd() % (4 * ONE);
	i->ratio_after =
		rnd() % 2 ? i->ratio_before : ONE / 4 + rnd() % (4 * ONE);
	i->migrated = rnd() % 4 == 0;
	h.early = i->migrated
			  ? up_to(h.work + 1)
			  : up_to((h.work < COUNT_RAMP ? h.work : COUNT_RAMP) +
				  1);
}

static void history(void)
{
	struct cpuc_interval *i = &h.seen;

	memset(&h, 0, sizeof h);
	i->cycles = any(60);
	i->waits_clear = rnd() % 2;
	i->gap = i->waits_clear ? COUNT_GAP_CLEARS : COUNT_GAP;
	i->clock_known = rnd() % 8 != 0;
	i->lack.lost = rnd() % 4 ? 0 : (uint32_t)up_to(COUNT_CLOCK_EVERY);
	before();
	since();
	rates();
}

/* The part of the interval that no earlier call has counted. */
static double counted(const struct cpuc_closed *closed)
{
	return (double)(closed->cycles - h.seen.cycles -
			cpuc_ratio_scaled(h.seen.counted, h.seen.ratio_before));
}

static bool too_low(const struct cpuc_closed *closed)
{
	double work =
		(double)cpuc_ratio_scaled(h.early, h.seen.ratio_before) +
		(double)cpuc_ratio_scaled(h.work - h.early, h.seen.ratio_after);

	/* Each product is cut. */
	return counted(closed) < work - 4 ||
	       closed->cycles <
		       h.seen.cycles + cpuc_ratio_scaled(h.seen.counted,
							 h.seen.ratio_before);
}

/* Without a clock all of it counts. Else what passes for the thread's: what a
 * switch may have hidden, and what was lost without one. */
static bool too_high(const struct cpuc_closed *closed)
{
	const struct cpuc_interval *i = &h.seen;
	uint32_t n = i->switches.voluntary + i->switches.involuntary;
	uint64_t most =
		i->clock_known ? h.work + h.unseen + i->lack.lost : i->ticks;
	uint64_t higher = i->ratio_before > i->ratio_after ? i->ratio_before
							   : i->ratio_after;

	if (i->clock_known)
		most += n == 0           ? h.away
			: i->waits_clear ? h.hidden
					 : n * i->gap;
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

/* One interval each: what is lost is learned from readings without a switch,
 * and forgotten; the clock of another core is behind; waits. */
static void singly(void)
{
	const uint64_t gap = COUNT_GAP, clock = COUNT_CLOCK_EVERY,
		       lack = COUNT_SWITCH_HIDES;
	const struct {
		const char *what;
		struct cpuc_interval i;
		struct cpuc_closed closed;
	} rows[] = {
		{"what is missing without a switch counts, and is lost",
		 {.ticks = 1000000, .counted = 400000, .ran = 900000},
		 {.ticks = 1000000, .lack.lost = 100000}},
		{"is forgotten",
		 {.ticks = 1000000, .ran = 1000000, .lack.lost = 128},
		 {.ticks = 1000000, .lack.lost = 128 - 128 / LOST_ALONE}},
		{"and less so beside a switch",
		 {.ticks = 1000000,
		  .ran = 1000000,
		  .lack.lost = 128,
		  .switches.involuntary = 1,
		  .interrupted = true},
		 {.ticks = 1000000, .lack.lost = 128 - 128 / LOST_SWITCHED}},
		{"a long pause of the host's is not granted again in full",
		 {.ticks = 3 * clock, .ran = clock},
		 {.ticks = 3 * clock,
		  .lack = {(uint32_t)clock, UINT16_MAX / SLOW_MEAN}}},
		{"a clock that lacks one part of sixteen is slow by it",
		 {.ticks = clock + clock / 16, .ran = clock},
		 {.ticks = clock + clock / 16,
		  .lack = {(uint32_t)(clock / 16),
			   UINT16_MAX / 16 / SLOW_MEAN}}},
		{"a short time does not show that the thread's clock is slow",
		 {.ticks = clock / 16, .ran = clock / 32},
		 {.ticks = clock / 16,
		  .lack.lost = (uint32_t)(clock / 16 - clock / 32)}},
		{"a clock that is behind: the thread's own counts",
		 {.ticks = 399000, .counted = 400000, .ran = 405000},
		 {.ticks = 405000}},
		{"if no time has passed, that does not: it was read later",
		 {.ticks = 400000, .counted = 400000, .ran = 405000},
		 {.ticks = 400000}},
		{"a wait that did not interrupt",
		 {.ticks = 3 * gap, .switches.voluntary = 1},
		 {.wait_missed = true}},
		{"and one that did",
		 {.ticks = 3 * gap,
		  .switches.voluntary = 1,
		  .interrupted = true},
		 {.wait_missed = false}},
		{"a preemption is no wait",
		 {.ticks = 3 * gap, .switches.involuntary = 1},
		 {.ticks = lack}},
		{"nor is what is missing so briefly",
		 {.ticks = gap, .ran = gap / 2, .switches.voluntary = 1},
		 {.ticks = gap / 2}},
		{"a wait that was not told may be before the latest count",
		 {.ticks = 3 * gap,
		  .counted = 2 * gap,
		  .ran = gap,
		  .switches.voluntary = 1},
		 {.ticks = 3 * gap, .wait_missed = true}},
		{"one that was told is after it, and no longer than that",
		 {.ticks = 3 * gap,
		  .counted = 2 * gap,
		  .ran = gap,
		  .switches.voluntary = 1,
		  .interrupted = true},
		 {.ticks = 2 * gap}},
	};
	struct cpuc_interval i;
	struct cpuc_closed closed;
	size_t k;

	for (k = 0; k < COUNT(rows); k++) {
		i = rows[k].i;
		i.ratio_before = i.ratio_after = ONE;
		i.clock_known = i.waits_clear = true;
		i.gap = COUNT_GAP_CLEARS;
		closed = cpuc_interval_close(&i);
		ok(closed.ticks == rows[k].closed.ticks &&
			   closed.lack.lost == rows[k].closed.lack.lost &&
			   closed.lack.slow == rows[k].closed.lack.slow &&
			   closed.wait_missed == rows[k].closed.wait_missed,
		   "%s: %.0f ticks, %u lost, %u slow", rows[k].what,
		   (double)closed.ticks, (unsigned)closed.lack.lost,
		   closed.lack.slow);
	}
	i = (struct cpuc_interval){
		.ratio_before = ONE, .ratio_after = ONE, .counted = 1000};
	ok(cpuc_interval_close(&i).ticks == 1000,
	   "if the clock is behind and no other is known, nothing counts");
	/* A preemption shorter than a gap. */
	i = (struct cpuc_interval){.ratio_before = ONE,
				   .ratio_after = ONE,
				   .clock_known = true,
				   .interrupted = true,
				   .switches.involuntary = 1,
				   .gap = COUNT_GAP,
				   .ticks = 2 * gap,
				   .unread = gap,
				   .ran = 2 * gap + 1};
	ok(cpuc_interval_close(&i).ticks == gap + 1 + lack,
	   "what interrupted came after the latest count");
}

/* Each half of the ticks times each half of a ratio. */
static void scaled(void)
{
	ok(cpuc_ratio_scaled((UINT64_C(1) << 40) + 10, ONE + ONE / 2) ==
			   (UINT64_C(3) << 39) + 15 &&
		   cpuc_ratio_scaled((UINT64_C(1) << 40) + 10, ONE / 2) ==
			   (UINT64_C(1) << 39) + 5,
	   "ticks of more than 32 bits by ratios above 1 and below");
}

int main(void)
{
	cpuc_calibration.hz = 2500000000;
	scaled();
	histories(cases_begin(1000000));
	singly();
	return done_testing();
}
