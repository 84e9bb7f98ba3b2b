/* SPDX-License-Identifier: 0BSD */
/* The calibration of the process. Integers only: floating point could raise a
 * flag, or a trap, in the caller's arithmetic. */
#include <config.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "../arithmetic.h"
#include "../rate/clock.h"
#include "../system/scheduling.h"
#include "../thread/guard.h"
#include "calibrate.h"
#include "constants.h"
#include "thread_clock.h"
#include "window.h"

struct cpuc_calibration cpuc_calibration;

/* A window's long run less its short one, in ticks; UINT32_MAX: useless. */
static uint32_t calibration_run(const struct cpuc_chain *chain, uint32_t turns)
{
	uint64_t stamp[3], d;

	chain->window(turns, stamp);
	d = (stamp[2] - stamp[1]) - (stamp[1] - stamp[0]);
	return d - 1 < UINT32_MAX ? (uint32_t)d : UINT32_MAX;
}

/* The same in core cycles. */
static uint64_t calibration_cycles(const struct cpuc_chain *chain,
				   uint64_t turns)
{
	return (CPUC_LONG_RUN - 1) * chain->cycles * turns;
}

static uint64_t calibration_run_ratio(const struct cpuc_calibration *s,
				      uint32_t turns)
{
	uint64_t v[FIRST_WINDOWS];

	for (int i = 0; i < FIRST_WINDOWS; i++)
		v[i] = (calibration_cycles(s->chain, turns)
			<< CPUC_RATIO_BITS) /
		       calibration_run(s->chain, turns);
	return cpuc_middle(v, FIRST_WINDOWS, FIRST_AGREE, FIRST_NEAR);
}

/* Chooses the length of windows, and of glimpses: so many ticks. */
static int calibration_choose_lengths(struct cpuc_calibration *s,
				      uint64_t *glimpse)
{
	const struct cpuc_chain *chain = s->chain;
	uint64_t resolution, grain, length, turns;
	uint32_t tested = 1, ticks, i;

	grain = cpuc_clock_grain(s->clock, &resolution);
	/* Others' work makes reads scatter for a moment. */
	for (i = 1; i < GRAIN_TRIES; i++)
		grain = cpuc_min(grain,
				 cpuc_clock_grain(s->clock, &resolution));
	if (grain == 0)
		return -EAGAIN;
	length = s->hz / WINDOW_PARTS;
	if (length < WINDOW_GRAINS * grain)
		length = WINDOW_GRAINS * grain;
	do {
		ticks = (uint32_t)cpuc_min(calibration_run(chain, tested),
					   calibration_run(chain, tested));
		tested *= 2;
		/* Both runs may end between two ticks of the clock. */
	} while ((ticks < WINDOW_TEST * grain || ticks == UINT32_MAX) &&
		 tested < WINDOW_TURNS_MAX);
	turns = length * (tested / 2) / ticks + 1;
	if (turns > WINDOW_TURNS_MAX || ticks == UINT32_MAX)
		return -EAGAIN;
	s->turns = (uint32_t)turns;
	s->window_ticks = (uint32_t)length;
	s->grain = (uint32_t)((grain << 20) / length);
	resolution *= GLIMPSE_RESOLUTIONS;
	*glimpse = grain * GLIMPSE_GRAINS;
	if (*glimpse < resolution)
		*glimpse = resolution;
	return 0;
}

/* The ticks of a window, by the ratio. */
static uint32_t calibration_ticks(const struct cpuc_calibration *s)
{
	return (uint32_t)((calibration_cycles(s->chain, s->turns) << 31) /
			  (s->ratio >> 1));
}

/* Corrects the turns by the ratio: the test of their length was short, and so
 * inexact. */
static int calibration_correct_lengths(struct cpuc_calibration *s,
				       uint64_t glimpse)
{
	const uint32_t ticks = calibration_ticks(s);
	const uint64_t least = GLIMPSE_CYCLES / s->chain->cycles;
	uint64_t turns = s->turns * (uint64_t)s->window_ticks + ticks / 2;

	/* Much shorter: an interrupted test has led to too few turns. */
	if (ticks < s->window_ticks - s->window_ticks / 4)
		return -EAGAIN;
	turns /= ticks;
	/* A slow core's turn may be longer than a window is to be. */
	s->turns = turns > 0 ? (uint32_t)turns : 1;
	s->window_ticks = calibration_ticks(s);
	/* A short run of a window is one part of so many. */
	turns = (uint64_t)s->turns * (CPUC_LONG_RUN - 1);
	glimpse = turns * glimpse / s->window_ticks;
	s->glimpse_turns = (uint32_t)(glimpse > least ? glimpse : least);
	s->glimpse_grain = (uint32_t)(s->grain * turns / s->glimpse_turns);
	return 0;
}

static int chain_permille(uint64_t count, uint64_t expected)
{
	uint64_t permille = count * 1000 / expected;

	return permille < CHAIN_OFF_MAX ? (int)permille - 1000 : CHAIN_OFF_MAX;
}

/* How far the chain is from s->ratio, in permille, at the best of some windows:
 * negative if it takes less time, 0 if close enough. */
static int check_chain(const struct cpuc_calibration *s,
		       const struct cpuc_chain *chain, unsigned slack)
{
	uint64_t turns, expected;
	int best = CHAIN_OFF_MAX, off, i;

	turns = (uint64_t)s->turns * s->chain->cycles / chain->cycles /
			CHAIN_PART +
		1;
	expected = (calibration_cycles(chain, turns) << CPUC_RATIO_BITS) /
		   s->ratio;
	for (i = 0; i < CHAIN_TRIES; i++) {
		off = chain_permille(calibration_run(chain, (uint32_t)turns),
				     expected);
		if (off >= -CHAIN_OFF &&
		    (off <= CHAIN_OFF || off <= (int)slack))
			return 0;
		if (abs(off) < abs(best))
			best = off;
	}
	return best;
}

/* Whether all chains but one agree on s->ratio. If the odd one is the first and
 * quicker, an SMT sibling may slow down the others, hardly in all rounds. */
static int check_chains(const struct cpuc_calibration *s, unsigned round,
			struct cpuc_slot *slot)
{
	const struct cpuc_chain_ops *ops = s->clock->chains;
	unsigned i, slack = s->chain == ops->chain ? ops->slack : 0, odd = 0;
	bool quick = false;
	int off, most = 0;

	for (i = 0; i < ops->nchains; i++) {
		off = &ops->chain[i] == s->chain
			      ? 0
			      : check_chain(s, &ops->chain[i], slack);
		odd += off != 0;
		quick |= i == 0 && off < 0;
		if (abs(off) > most) {
			most = abs(off);
			cpuc_reason(slot,
				    "chains of different instructions "
				    "disagree: %s and %s by %d.%d%%",
				    s->chain->name, ops->chain[i].name,
				    most / 10, most % 10);
		}
	}
	if (odd > cpuc_chains_odd(ops) || (quick && round < FIRST_ROUNDS / 2))
		return -EDOM;
	return 0;
}

/* By windows of the chain s->chain. */
static int calibration_round(struct cpuc_calibration *s, unsigned round,
			     struct cpuc_slot *slot)
{
	uint64_t glimpse;

	cpuc_reason(slot, "the clock stands still, or is too coarse");
	if (calibration_choose_lengths(s, &glimpse) != 0)
		return -EAGAIN;
	cpuc_reason(slot, "windows too noisy to agree");
	s->ratio = calibration_run_ratio(s, s->turns - s->turns / 3);
	if (s->ratio == 0)
		return -EAGAIN;
	if (cpuc_core_hz(s, s->ratio) == 0) {
		cpuc_reason(slot,
			    "the core's rate is outside 100 MHz ... 10 GHz");
		return -ERANGE;
	}
	if (calibration_correct_lengths(s, glimpse) != 0)
		return -EAGAIN;
	return check_chains(s, round, slot);
}

/* Longer before each round, to outlast a burst of others' work. */
static void calibration_delay(const struct cpuc_calibration *s, unsigned round)
{
	uint64_t begun = (uint64_t)s->clock->tick();
	uint64_t ticks = (s->hz / FIRST_DELAY) << round;
	unsigned reads = FIRST_DELAY_READS << round;

	while ((uint64_t)s->clock->tick() - begun < ticks && reads-- > 0)
		;
}

/* The first chain's reason stays, whatever ails the second. */
static int calibration_find(struct cpuc_calibration *s, struct cpuc_slot *slot)
{
	struct cpuc_slot second;
	unsigned round;
	int err;

	for (round = 0;; round++) {
		s->chain = s->clock->chains->chain;
		err = calibration_round(s, round, slot);
		if (err == -EDOM) {
			s->chain++;
			if (calibration_round(s, round, &second) == 0)
				return 0;
		}
		if (err == 0 || round + 1 == FIRST_ROUNDS)
			return err;
		calibration_delay(s, round);
	}
}

/* A glimpse's overhead, the middle of several, and its cost, the least: some
 * are interrupted. */
static void calibration_glimpse(struct cpuc_calibration *s)
{
	const uint64_t links = cpuc_links_cycles(s, s->glimpse_turns);
	uint64_t v[GLIMPSE_TRIES], begun, least = UINT32_MAX;
	struct cpuc_guard guard = {0};
	bool entered;

	for (unsigned i = 0; i < GLIMPSE_TRIES; i++) {
		begun = (uint64_t)s->clock->tick();
		entered = CPUC_GLIMPSE_GUARDED && cpuc_guard_enter(&guard);
		v[i] = links + (uint64_t)cpuc_run_glimpse(s, s->ratio);
		if (entered)
			cpuc_guard_leave(&guard);
		least = cpuc_min((uint64_t)s->clock->tick() - begun, least);
	}
	s->glimpse_cost = (uint32_t)least;
	s->glimpse_overhead =
		(int32_t)(cpuc_middle(v, GLIMPSE_TRIES, 1, s->glimpse_grain) -
			  links);
}

CPUC_COLD int cpuc_calibrate(struct cpuc_slot *slot)
{
	const size_t rest = offsetof(struct cpuc_calibration, chain);
	struct cpuc_clock *clock = slot->counter->clock;
	struct cpuc_calibration s = {.clock = clock};
	struct cpuc_switches n;
	const struct cpuc_chain_ops *ops = clock->chains;
	const char *why = ops->distrusted != NULL ? ops->distrusted() : NULL;
	int err;

	clock->tried = true;
	if (why != NULL)
		return cpuc_reason(slot, "%s", why);
	if (!cpuc_clock_rate(clock))
		return cpuc_reason(slot, CPUC_CLOCK_UNMEASURED);
	if (cpuc_calibration.clock != NULL)
		return 0;
	/* Windows would have to be hundreds of times as long as a read. */
	if (clock->traps)
		return cpuc_reason(slot,
				   "a read of its clock takes more than a "
				   "microsecond: it traps, "
				   "into firmware, a hypervisor or a debugger");
	s.hz = clock->hz;
	s.switch_hides = (uint32_t)(s.hz / (ops->bare != NULL && ops->bare()
						    ? SWITCH_HIDES
						    : SWITCH_HIDES_VIRTUAL));
	err = calibration_find(&s, slot);
	if (err != 0)
		return err;
	cpuc_thread_switches(&n); /* a sandbox's SIGSYS is to come here */
	slot->trial.reason[0] = '\0';
	s.thread_clock = cpuc_thread_clock_agrees(clock->tick, s.hz);
	calibration_glimpse(&s);
	s.measured_at = (uint64_t)clock->tick();
	/* All but `clock`, which others may be looking at. */
	memcpy((char *)&cpuc_calibration + rest, (const char *)&s + rest,
	       sizeof s - rest);
	/* For the acquire in cpuc_count_slow(), and the others. */
	__atomic_store_n(&cpuc_calibration.clock, clock, __ATOMIC_RELEASE);
	return 0;
}

bool cpuc_calibration_done(void)
{
	return __atomic_load_n(&cpuc_calibration.clock, __ATOMIC_ACQUIRE) !=
	       NULL;
}

uint64_t cpuc_run_core_hz(void)
{
	const struct cpuc_calibration *s = &cpuc_calibration;

	return cpuc_core_hz(s, calibration_run_ratio(s, s->turns));
}
