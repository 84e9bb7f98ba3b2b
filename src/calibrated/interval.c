/* SPDX-License-Identifier: 0BSD */
/* What an interval counts: never less than the thread's cycles in it.
 *
 *   clock last read       began     latest count          ends
 *        |------ unread -----|------ counted ------|--------|
 *        |                   |------------- ticks ----------|
 *        |------------- ran, by the thread's clock ---------|
 *
 * What `ran` lacks of `unread` and `ticks` together is missing: the thread may
 * not have run for so long. That may have been before the latest count, where
 * it has been counted already, but for the part that is too long to hide there.
 * The rest is a pause, and is left out.
 *
 * Up to the latest count the ratio was `begin`; calls have returned counts by
 * it. Where after that it became `end` is unknown: the higher of the two holds
 * for as long as a core takes to reach its rate, and `end` from then on. On
 * another CPU the higher one holds all the time: `end` may have been its rate
 * for a moment only. */
#include <config.h>
#include "calibration.h"
#include "constants.h"
#include "interval.h"
#include "ratio.h"

/* How much of what is missing may be among the `counted` ticks of earlier
 * calls. Where waits are not told of, each of the n switches may hide there,
 * for less than a gap; one that took longer is after the latest count. What the
 * host took may hide there too. */
static uint64_t interval_missed(const struct cpuc_interval *i, uint64_t missing,
				bool told, uint32_t n, uint32_t lost)
{
	uint64_t most = (uint64_t)n * i->gap;

	if (told)
		most = 0;
	else if (i->interrupted || missing > most)
		most -= i->gap;
	return cpuc_least(most + lost,
			  cpuc_least(missing, i->unread + i->counted));
}

/* Learns from a reading without a switch: `ran` should be `ticks`. What is lost
 * now and then is not slow; nor is a short time, seen by its readings. */
static void interval_learn(struct cpuc_lack *lack, uint64_t ran, uint64_t ticks,
			   uint64_t missing)
{
	uint64_t slow = (cpuc_less(ticks, ran) << 16) / (ran + 1);

	if (missing > lack->lost)
		lack->lost = (uint32_t)cpuc_least(missing, COUNT_CLOCK);
	if (ticks < COUNT_CLOCK / 2)
		return;
	slow = cpuc_least(slow, UINT16_MAX);
	if (slow > lack->slow)
		slow = lack->slow + (slow - lack->slow) / LACK_MEAN;
	lack->slow = (uint16_t)slow;
}

/* For how many ticks since the latest count the thread certainly did not run.
 * Without a switch, the host or an interrupt had the CPU: that time counts, and
 * as much may be missing again. */
static uint64_t interval_pause(const struct cpuc_interval *i,
			       struct cpuc_closed *closed)
{
	const uint64_t ran = i->ran + (i->ran / 256 * i->lack.slow) / 256;
	uint64_t missing = cpuc_less(i->unread + i->ticks, ran), pause;
	uint32_t n = i->switches.own + i->switches.forced;

	closed->lack.lost -=
		i->lack.lost / (n == 0 ? LOST_ALONE : LOST_SWITCHED);
	if (n == 0) {
		interval_learn(&closed->lack, i->ran, i->unread + i->ticks,
			       missing);
		return 0;
	}
	closed->untold = i->switches.forced == 0 && !i->interrupted &&
			 missing > COUNT_GAP;
	pause = missing - interval_missed(i, missing,
					  i->told && !closed->untold, n,
					  closed->lack.lost);
	return cpuc_less(cpuc_least(pause, i->ticks - i->counted),
			 i->switches.forced * COUNT_LACK);
}

/* The interval's ticks that count. */
static uint64_t interval_ticks(const struct cpuc_interval *i,
			       struct cpuc_closed *closed)
{
	/* The clock of this core is behind. */
	if ((int64_t)(i->ticks - i->counted) < 0)
		return i->counted +
		       (i->clock ? cpuc_less(i->ran, i->unread + i->counted)
				 : 0);
	return i->clock ? i->ticks - interval_pause(i, closed) : i->ticks;
}

struct cpuc_closed cpuc_interval_close(const struct cpuc_interval *i)
{
	struct cpuc_closed closed = {.lack = i->lack};
	uint64_t higher = i->begin > i->end ? i->begin : i->end, rest, ramp;

	closed.ticks = interval_ticks(i, &closed);
	rest = closed.ticks - i->counted;
	ramp = i->moved ? rest : cpuc_least(rest, COUNT_RAMP);
	closed.cycles = i->cycles + cpuc_ratio_scaled(i->counted, i->begin) +
			cpuc_ratio_scaled(ramp, higher) +
			cpuc_ratio_scaled(rest - ramp, i->end);
	return closed;
}
