/* SPDX-License-Identifier: 0BSD */
/* Windows and glimpses whose clock jumps, or that others interrupt for long,
 * and their turns at any ratio. */
#include <config.h>
#include "calibrated/window.h"
#include "tap.h"

#define ONE (UINT64_C(1) << CPUC_RATIO_BITS)
#define TURNS 100
#define TICKS 10000 /* of a short run */

static uint64_t jump; /* within the run that ends with this reading */
static int jump_at;

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
	unsigned i;

	jump_at = 3;
	ok(cpuc_window(&o, TURNS, ONE) == ONE && o.known == 9,
	   "a window shows the ratio");
	ok(cpuc_glimpse(&cpuc_calibration, ONE) == 0, "and a glimpse");
	for (i = 0; i < 5; i++) {
		jump = by[i];
		for (jump_at = 1; jump_at < 3; jump_at++)
			ok(cpuc_window(&o, TURNS, ONE) == 0 && o.known == 9 &&
				   o.cycles == 0,
			   "with a jump of %llu ticks in run %d it shows "
			   "nothing",
			   (unsigned long long)jump, jump_at);
		jump_at = 1;
		most = cpuc_glimpse(&cpuc_calibration, ONE);
		ok(most > TICKS << CPUC_OVERHEAD_BITS && most < INT32_MAX / 4,
		   "a glimpse is long then, within bounds: %d", (int)most);
	}
	jump = (UINT64_C(1) << 24) - 2 * TICKS;
	most = cpuc_glimpse(&cpuc_calibration, 64 * ONE);
	ok(most > 0 && most < INT32_MAX / 4, "so is one of many cycles: %d",
	   (int)most);
}

static void turns(void)
{
	const struct cpuc_calibration *s = &cpuc_calibration;

	ok(cpuc_calibration_turns(s, 3, ONE) == 3 &&
		   cpuc_calibration_turns(s, 3, 2 * ONE) == 6 &&
		   cpuc_calibration_turns(s, 3, ONE / 2) == 2,
	   "turns follow the ratio");
	ok(cpuc_calibration_turns(s, 3, ONE / 100) == 1,
	   "there is one at least");
}

int main(void)
{
	cpuc_calibration = (struct cpuc_calibration){.chain = &chain,
						     .hz = 1000000000,
						     .ratio = ONE,
						     .turns = TURNS,
						     .glimpse_turns = TURNS};
	jumps();
	turns();
	return done_testing();
}
