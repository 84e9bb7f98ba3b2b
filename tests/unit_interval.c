/* SPDX-License-Identifier: 0BSD */
/* What an interval counts, by what was seen of it. */
#include <config.h>
#include "calibrated/calibration.h"
#include "calibrated/constants.h"
#include "calibrated/interval.h"
#include "calibrated/ratio.h"
#include "tap.h"

#define ONE (UINT64_C(1) << CPUC_RATIO_BITS)

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
		 {.ticks = gap,
		  .counted = gap / 4,
		  .ran = gap / 2,
		  .switches.voluntary = 1},
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
	singly();
	return done_testing();
}
