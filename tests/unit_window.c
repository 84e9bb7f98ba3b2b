/* SPDX-License-Identifier: 0BSD */
/* Windows and glimpses whose clock jumps, or that others interrupt for long,
 * their turns at any ratio, and whether ratios or a count agree. */
#include <config.h>
#include "calibrated/window.h"
#include "tap.h"

#define ONE (UINT64_C(1) << CPUC_RATIO_BITS)
#define TURNS 100
#define TICKS 10000 /* of a short run */

static uint64_t jump; /* within the run that ends with this reading */
static int jump_at = 3;

static void run(uint64_t stamp[], int readings)
{
	static const uint64_t at[] = {0, TICKS, 9 * TICKS};

	for (int i = 0; i < readings; i++)
		stamp[i] = 1000000 + at[i] + (i >= jump_at ? jump : 0);
}

static void window(uint32_t turns, uint64_t stamp[3])
{
	(void)turns;
	run(stamp, 3);
}

static void glimpse(uint32_t turns, uint64_t stamp[2])
{
	(void)turns;
	run(stamp, 2);
}

static const struct cpuc_chain chain = {window, glimpse, TICKS / TURNS, "one"};

static void jumps(void)
{
	/* Forth, back, by long interrupts, and so far that a product of 64 bits
	 * would be right again. */
	static const uint64_t by[] = {UINT64_C(1000000000000000),
				      -UINT64_C(1000000000), UINT64_C(1) << 24,
				      UINT64_C(1) << 47, UINT64_C(1) << 63};
	struct cpuc_overhead o = {0, 8};
	int32_t most;
	size_t i;

	ok(cpuc_window(&o, TURNS, ONE) == ONE && o.known == 9,
	   "a window shows the ratio");
	ok(cpuc_glimpse_now(&cpuc_calibration, ONE) == 0, "and a glimpse");
	for (i = 0; i < COUNT(by); i++) {
		jump = by[i];
		for (jump_at = 2; jump_at > 0; jump_at--)
			ok(cpuc_window(&o, TURNS, ONE) == 0 && o.known == 9 &&
				   o.cycles == 0,
			   "with a jump of %.0f ticks in run %d it shows "
			   "nothing",
			   (double)jump, jump_at);
		jump_at = 1;
		most = cpuc_glimpse_now(&cpuc_calibration, ONE);
		ok(most > TICKS << CPUC_OVERHEAD_BITS && most < INT32_MAX / 4,
		   "a glimpse is long then, within bounds: %d", (int)most);
	}
	jump = (UINT64_C(1) << 24) - 2 * TICKS;
	most = cpuc_glimpse_now(&cpuc_calibration, 64 * ONE);
	ok(most > 0 && most < INT32_MAX / 4, "so is one of many cycles: %d",
	   (int)most);
}

/* What a window takes beyond its links is not learnt from a short run that took
 * longer than the long one, nor from others that were interrupted. */
static void overheads(void)
{
	struct cpuc_overhead o = {100, 8};
	int all = 1;

	jump = 8 * TICKS;
	jump_at = 1;
	ok(cpuc_window(&o, TURNS, ONE) == 0 && o.known == 8 && o.cycles == 100,
	   "a short run that is longer than the long one shows nothing");
	o.cycles = 0;
	for (int i = 0; i < 100; i++) {
		jump = i % 4 < 2 ? 0 : TICKS;
		cpuc_window(&o, TURNS, ONE);
		all &= o.known > 0 && o.cycles == 0;
	}
	ok(all, "two windows of four are disturbed: the overhead stays known");
	jump = 0;
}

static void turns(void)
{
	const struct cpuc_calibration *s = &cpuc_calibration;

	ok(cpuc_calibration_turns(s, 3, ONE) == 3 &&
		   cpuc_calibration_turns(s, 3, 2 * ONE) == 6 &&
		   cpuc_calibration_turns(s, 3, ONE / 2) == 2 &&
		   cpuc_calibration_turns(s, 3, ONE / 100) == 1,
	   "turns follow the ratio, and there is one at least");
}

static void middle(void)
{
	uint64_t v[] = {3000, 1002, 1, 1000, 1001}, one[] = {7},
		 apart[] = {1, 1000, 3000};

	ok(cpuc_middle(v, 5, 3, CPUC_PERMILLE(5)) == 1001 &&
		   cpuc_middle(one, 1, 1, 0) == 7,
	   "the mean of those near the median");
	ok(cpuc_middle(apart, 3, 2, CPUC_PERMILLE(5)) == 0,
	   "none, if too few are");
}

/* By 2^-10, however great they are. */
static void distances(void)
{
	uint64_t a;
	int all = 1;

	for (a = 1 << 10; a <= UINT64_C(1) << 62; a *= 2)
		all &= cpuc_apart(a + a / 1024, a) == 1024 &&
		       cpuc_apart(a - a / 1024, a) == 1024;
	ok(all, "how far ratios are apart");
	ok(cpuc_apart(3 * ONE, ONE) == 1 << 20 && cpuc_apart(ONE, 1) == 1 << 20,
	   "no further than by all of one");
}

/* A count of the core's cycles: permille of what it should be, and what others
 * add to each window but one. */
static long long count, permille, others;
static int windows;

static long long counted(void)
{
	return count;
}

static void counted_window(uint32_t turns, uint64_t stamp[3])
{
	(void)stamp;
	count += 9LL * turns * chain.cycles * permille / 1000;
	if (++windows != 5)
		count += others;
}

static void agreement(void)
{
	static const struct cpuc_chain counting = {.window = counted_window,
						   .cycles = TICKS / TURNS};
	static const struct {
		const char *what;
		long long permille, others;
		int off;
	} rows[] = {
		{"0.9% too few", 991, 0, 0},
		{"1.5% too many", 1015, 0, 15},
		{"0.9% too many", 1009, 0, 0},
		{"interrupted in all windows but one", 1000, 1000000, 0},
		{"moved between cores in all but one", 1000, -1000000000, 0},
		{"2% too many", 1020, 0, 20},
		{"2% too few", 980, 0, -20},
		{"twice as many", 2000, 0, 1000},
		{"2% too few, and interrupted", 980, 10000000, -20},
		{"none", 0, 0, -1000},
		{"far too many", 100000, 0, 10000},
	};
	int off;

	for (size_t i = 0; i < COUNT(rows); i++) {
		permille = rows[i].permille;
		others = rows[i].others;
		windows = 0;
		off = cpuc_chain_off(&counting, counted);
		ok(off == rows[i].off, "%s: off by %d permille", rows[i].what,
		   off);
	}
}

int main(void)
{
	cpuc_calibration = (struct cpuc_calibration){.chain = &chain,
						     .hz = 1000000000,
						     .ratio = ONE,
						     .turns = TURNS,
						     .glimpse_turns = TURNS};
	jumps();
	overheads();
	turns();
	middle();
	distances();
	agreement();
	return done_testing();
}
