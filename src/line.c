/* SPDX-License-Identifier: 0BSD */
/* What a line gives beyond the fast path: after a pause, an interruption, or a
 * step of the clock. */
#include <config.h>
#include "line.h"

/* Ticks in which a core gets to a new rate. */
#define RAMP (cpuc_calibration.hz / 1000)

/* Ticks that reading the thread's clock takes; and a wait that is seen without
 * an interruption. */
#define CLOCK (cpuc_calibration.hz / 500000)
#define WAIT (cpuc_calibration.hz / 500)

/* Of d ticks since the line's, those for which the thread ran. The clocks'
 * rates differ a little. */
static uint64_t line_run(const struct cpuc_line *l, uint64_t d,
			 const struct cpuc_instant *i)
{
	uint64_t ns = i->ran - l->ran, all = i->tick - l->at, ran;

	if (i->ran == 0 || l->ran == 0 || ns >> 63 != 0)
		return d;
	ran = ns / 1000000000 * cpuc_calibration.hz +
	      ns % 1000000000 * cpuc_calibration.hz / 1000000000;
	if (ran + (i->interrupted ? CLOCK + all / 1024 : WAIT) >= all)
		return d;
	return d > all - ran ? d - (all - ran) : 0;
}

/* A clock that is further behind than cores are has begun anew, as after a
 * suspend: the line may have given counts up to `due`. The thread's clock
 * leaves out the time of interrupts as well, so the count may come out below
 * the last. On 32-bit hosts that may be half of one count, half of another. */
uint64_t cpuc_line_count(const struct cpuc_line *l,
			 const struct cpuc_instant *i, uint64_t ratio,
			 uint64_t last)
{
	uint64_t d = cpuc_line_since(l->tick, i->tick), old = l->due + RAMP;
	uint64_t most = cpuc_ratio_scaled(old, l->ratio), n;

	if (cpuc_line_since(i->tick, l->tick) > CPUC_RATIO_LONG)
		d = l->due;
	else
		d = line_run(l, d, i);
	if (d < old || l->due == 0)
		old = d;
	n = l->cycles + cpuc_ratio_scaled(old, l->ratio) +
	    cpuc_ratio_scaled(d - old, ratio);
	return last > n && last - n < most ? last : n;
}
