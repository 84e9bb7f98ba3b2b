/* SPDX-License-Identifier: 0BSD */
/* What an interval counts: rather too many cycles than too few.
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
 * Up to the latest count ratio_before holds: calls have returned counts by it.
 * Where it became ratio_after is unknown: the higher of the two holds for as
 * long as a core takes to reach its rate, then ratio_after; on another CPU the
 * higher holds all the time, as ratio_after may be its rate for a moment. */
#include <config.h>
#include "../arithmetic.h"
#include "constants.h"
#include "interval.h"

/* How much of what is missing may be in the time before the latest count, and
 * stays counted: what interrupts and the host took; and where waits clear no
 * word, each switch may hide there for less than a gap, and one does not if
 * more is missing; that a word is cleared may be a signal. */
static uint64_t interval_already_counted(const struct cpuc_interval *i,
					 uint64_t missing, uint64_t gaps,
					 uint64_t lost)
{
	if (missing > gaps)
		gaps -= cpuc_min(gaps, i->gap);
	return cpuc_min(gaps + lost, cpuc_min(missing, i->unread + i->counted));
}

/* Learns from a reading without a switch: `ran` should be `ticks`. A rare loss
 * of much is no slow clock, nor are the readings' own ticks in a short time. */
static void interval_learn(struct cpuc_lack *lack, uint64_t ran, uint64_t ticks,
			   uint64_t missing, uint32_t least)
{
	const uint64_t slow = (cpuc_sub_sat(ticks, ran) << 16) / (ran + 1);
	const int64_t more = (int64_t)slow - lack->slow;

	if (missing > lack->lost)
		lack->lost = cpuc_min(missing, LOST_MOST) & LOST_MOST;
	if (ran >= least && slow <= UINT16_MAX / 2)
		lack->slow =
			(uint16_t)(lack->slow +
				   more / (more > 0 ? SLOW_MORE : SLOW_LESS));
}

/* How much of a pause counts, as the thread may have run on at the beginning of
 * so many switches. A part of what it ran pays that back. */
static uint64_t interval_grant(struct cpuc_lack *lack, uint32_t hides,
			       uint64_t switches, uint64_t pause, uint64_t ran)
{
	const uint64_t most = GRANT_SWITCHES * (uint64_t)hides;
	const uint64_t unit = (most >> 15) + 1;
	const uint64_t before = lack->granted * unit;
	const uint64_t paid = ran / GRANT_PART;
	const uint64_t grant = cpuc_min(cpuc_min(switches * hides, pause),
					cpuc_sub_sat(most + paid, before));

	lack->granted = (uint16_t)(cpuc_sub_sat(before + grant, paid) / unit);
	return grant;
}

/* So many switches may have hidden what interval_grant() counts. If more is
 * missing than the `rest` in which a pause may be, and the word shows no pause
 * before that, one of them has: here others are woken, nothing needs to be paid
 * back, and the next waits may hide as much. */
static uint32_t interval_hiding(const struct cpuc_interval *i, uint32_t hides,
				struct cpuc_lack *lack, uint64_t missing,
				uint64_t rest)
{
	const uint64_t least = lack->lost + hides / GRANT_PROVEN;
	uint32_t n = i->switches.voluntary;

	if (i->waits_clear && i->interrupted && !i->migrated &&
	    missing > rest + least) {
		lack->granted = 0;
		lack->waits = GRANT_WAITS;
	}
	n = n < lack->waits ? n : lack->waits;
	lack->waits = (lack->waits - n) & (2 * GRANT_WAITS - 1);
	return i->switches.involuntary + n;
}

/* The pause that is left out where so many switches may have been one. Of it
 * counts what they may have hidden, or what may be lost at any time. If more is
 * missing than all that explains, interrupts or the host have begun to take
 * much. */
static uint64_t interval_switched(const struct cpuc_interval *i,
				  const struct cpuc_bounds *b,
				  struct cpuc_closed *closed, uint64_t missing,
				  uint32_t n)
{
	const uint64_t since = i->unread + i->counted;
	const uint64_t unseen = since / LOST_UNSEEN;
	const uint64_t late = (uint64_t)i->switches.involuntary * b->hides;
	uint64_t rest = i->ticks - i->counted, lost = closed->lack.lost;
	uint64_t gaps = (uint64_t)n * i->gap, pause, counts;

	closed->lack.slow -= i->lack.slow / SLOW_SWITCHED;
	closed->wait_missed = i->switches.involuntary == 0 && !i->interrupted &&
			      missing > b->wait;
	if (i->waits_clear && !closed->wait_missed) {
		gaps = 0;
		/* All of them came after the interval. */
		if (i->stood && i->interrupted)
			rest = 0;
	}
	if (missing > rest + gaps + late + lost + unseen)
		lost += since / LOST_SEEN;
	pause = missing - interval_already_counted(i, missing, gaps, lost);
	pause = cpuc_min(pause, rest);
	n = interval_hiding(i, b->hides, &closed->lack, missing, rest);
	counts = interval_grant(&closed->lack, b->hides, n, pause, i->ran);
	return cpuc_sub_sat(pause, counts > unseen ? counts : unseen);
}

/* For how many ticks since the latest count the thread surely did not run.
 * Without a switch none: what the host or an interrupt took counts. */
static uint64_t interval_pause(const struct cpuc_interval *i,
			       const struct cpuc_bounds *b,
			       struct cpuc_closed *closed)
{
	/* slow / 2^16 of it is added, and a part more, as `slow` may have
	 * grown. */
	const uint64_t slow = (i->ran / 256 * i->lack.slow) / 256;
	const uint64_t ran =
		i->ran + slow +
		cpuc_min(slow / SLOW_DOUBT, i->ran / SLOW_DOUBT_MOST);
	const uint64_t missing = cpuc_sub_sat(i->unread + i->ticks, ran);
	const uint32_t n = i->switches.voluntary + i->switches.involuntary;
	uint32_t lost = i->lack.lost;

	lost -= lost / (lost > b->hides ? LOST_FADES : LOST_STAYS);
	closed->lack.lost = lost & LOST_MOST;
	closed->paused = n > 0 && missing > b->hides;
	closed->compared = n == 0 || (i->switches_unknown && !closed->paused);
	if (n > 0)
		return interval_switched(i, b, closed, missing, n);
	interval_learn(&closed->lack, i->ran, i->unread + i->ticks, missing,
		       b->least);
	interval_grant(&closed->lack, b->hides, 0, 0, i->ran);
	return 0;
}

/* The interval's ticks that count. */
static uint64_t interval_ticks(const struct cpuc_interval *i,
			       const struct cpuc_bounds *b,
			       struct cpuc_closed *closed)
{
	/* The clock of this core is behind. */
	const bool behind = (int64_t)(i->ticks - i->counted) < 0;

	if (!i->clock_known)
		return behind ? i->counted : i->ticks;
	if (behind)
		return i->counted +
		       cpuc_sub_sat(i->ran, i->unread + i->counted);
	return i->ticks - interval_pause(i, b, closed);
}

bool cpuc_interval_doubted(const struct cpuc_interval *i, uint32_t hides)
{
	return i->clock_known &&
	       cpuc_sub_sat(i->unread + i->ticks, i->ran) > hides;
}

struct cpuc_closed cpuc_interval_close(const struct cpuc_interval *i,
				       const struct cpuc_bounds *b)
{
	const uint64_t before = i->ratio_before, after = i->ratio_after;
	const uint64_t higher = before > after ? before : after;
	struct cpuc_closed closed = {.lack = i->lack};
	uint64_t rest, ramp;

	closed.ticks = interval_ticks(i, b, &closed);
	rest = closed.ticks - i->counted;
	ramp = i->migrated ? rest : cpuc_min(rest, b->ramp);
	closed.cycles = i->cycles + cpuc_scaled(i->counted, before) +
			cpuc_scaled(ramp, higher) +
			cpuc_scaled(rest - ramp, after);
	return closed;
}
