/* SPDX-License-Identifier: 0BSD */
/* Cycles per tick: persecond over the tick rate, which is known, or measured
 * against the operating system's clock. */
#include <config.h>
#include <errno.h>
#include "calibrated/calibration.h"
#include "tick_rate.h"

#define READS_MAX 100000 /* a clock that stands still ends the waiting */
#define BRACKETS 3
#define AGREE 1000 /* a clock of 10 ns steps agrees over 10 us, mostly */

struct moment {
	uint64_t tick, ns;
};

long long (*cpuc_clock_of(const struct cpuc_counter *c))(void)
{
	return c->chains ? c->chains->tick : c->read;
}

/* The beginning of a tick, dated as closely as one of three tries allows. */
static struct moment tick_now(const struct cpuc_counter *c,
			      const struct cpuc_world *world)
{
	long long (*read)(void) = cpuc_clock_of(c);
	struct moment best = {0, 0};
	uint64_t before, after, tick, gap = UINT64_MAX;
	long long last;
	int i, wait;

	for (i = 0; i < BRACKETS; i++) {
		last = read();
		wait = 1000;
		do {
			before = world->now_ns();
			tick = (uint64_t)read();
			after = world->now_ns();
		} while (tick == (uint64_t)last && wait--);
		if (after - before < gap) {
			gap = after - before;
			best = (struct moment){tick, before + gap / 2};
		}
	}
	return best;
}

/* Waits until so many nanoseconds after a; false: the time stands still. */
static bool tick_wait(const struct cpuc_world *world, struct moment a,
		      uint64_t ns)
{
	int reads = READS_MAX;

	while (world->now_ns() - a.ns < ns)
		if (reads-- == 0)
			return false;
	return true;
}

/* Ticks per second; 0: unknown. */
static uint64_t tick_between(const struct cpuc_counter *c, struct moment a,
			     struct moment b)
{
	uint64_t ticks = b.tick - a.tick;

	if (c->bits == 32)
		ticks = (uint32_t)ticks;
	if (b.ns <= a.ns || ticks > UINT64_MAX / 1000000000)
		return 0;
	return ticks * 1000000000 / (b.ns - a.ns);
}

/* Over at least so many nanoseconds. */
static uint64_t tick_estimate(const struct cpuc_counter *c,
			      const struct cpuc_world *world, uint64_t window)
{
	struct moment a = tick_now(c, world);

	return tick_wait(world, a, window)
		       ? tick_between(c, a, tick_now(c, world))
		       : 0;
}

static bool tick_within(uint64_t a, uint64_t b, uint64_t parts)
{
	return (a > b ? a - b : b - a) <= b / parts;
}

/* Three estimates over the shortest window in which they agree to 1/AGREE:
 * microseconds for a fine clock, milliseconds for a coarse one. By overlapping
 * windows: none of the four moments is in all of them, so that one that was
 * disturbed shows. */
static bool tick_measure(const struct cpuc_counter *c,
			 const struct cpuc_world *world, uint64_t rate[3])
{
	uint64_t window, *shared = c->shared_rate;
	struct moment m[4] = {{0, 0}};
	int i;

	if (shared != NULL && *shared != 0) {
		rate[0] = rate[1] = rate[2] = *shared;
		return true;
	}
	for (window = 10000; window <= 10000000; window *= 4) {
		m[0] = tick_now(c, world);
		for (i = 1; i < 4; i++) {
			if (!tick_wait(world, m[i - 1], window / 2))
				return false;
			m[i] = tick_now(c, world);
		}
		rate[0] = tick_between(c, m[0], m[2]);
		rate[1] = tick_between(c, m[1], m[3]);
		rate[2] = tick_between(c, m[0], m[3]);
		if (rate[0] != 0 && tick_within(rate[0], rate[1], AGREE) &&
		    tick_within(rate[0], rate[2], AGREE))
			break;
	}
	if (window > 10000000)
		return false;
	if (shared != NULL)
		*shared = rate[0];
	return true;
}

/* Whether persecond over every estimate is the same multiple of 1/d, within
 * 0.2 of a step, for some d: clocks are divided by small numbers, so what is
 * not near any such ratio was disturbed, or is another clock than it seems. */
static bool tick_plausible(const uint64_t rate[3], uint64_t persecond)
{
	uint64_t d, k, x, off;
	int i;

	for (d = 1024; d > 0; d /= 2) {
		x = persecond * d;
		k = (x + rate[0] / 2) / rate[0];
		for (i = 0; i < 3; i++) {
			off = x > k * rate[i] ? x - k * rate[i]
					      : k * rate[i] - x;
			if (off > rate[i] / 5)
				break;
		}
		if (k > 0 && i == 3)
			return true;
	}
	return false;
}

/* persecond over a measured rate, to the nearest 1/1024: as true as the
 * measurement, and mostly the same from process to process, as that is not. */
static struct cpuc_scale tick_rounded(uint64_t persecond, uint64_t rate)
{
	uint64_t k = (persecond * 1024 + rate / 2) / rate;

	return cpuc_scale_of(k ? k : 1, 1024);
}

/* A stated rate that the clock does not confirm is worse than none: emulators
 * and wrong firmware tables have been seen. */
static bool tick_confirmed(const struct cpuc_slot *slot,
			   const struct cpuc_world *world)
{
	uint64_t window, seen;

	for (window = 2500; window <= 160000; window *= 4) {
		seen = tick_estimate(slot->counter, world, window);
		if (tick_within(seen, slot->rate, 50))
			return true;
	}
	return false;
}

static int tick_calibrate(struct cpuc_slot *slot)
{
	const char *why = "";
	unsigned permille = 0;
	int err = cpuc_calibrate(slot->counter->chains, slot->rate, &why,
				 &permille);

	if (err == -EDOM)
		cpuc_reason(slot, "%s, by %u.%u%%", why, permille / 10,
			    permille % 10);
	else if (err)
		cpuc_reason(slot, "%s", why);
	return err;
}

int cpuc_settle_scale(struct cpuc_slot *slot, const struct cpuc_world *world)
{
	enum cpuc_unit unit = slot->counter->unit;
	uint64_t rate[3], persecond;
	bool known;

	slot->scale = cpuc_scale_of(1, 1);
	if (unit == CPUC_CYCLE)
		return 0;
	known = slot->rate != 0 &&
		(unit == CPUC_TIME || tick_confirmed(slot, world));
	if (!known && !tick_measure(slot->counter, world, rate)) {
		slot->rate = 0;
		/* As it is, a nominal clock is still a fair count. */
		if (unit == CPUC_NOMINAL)
			return 0;
		cpuc_reason(slot, "its rate cannot be measured against "
				  "CLOCK_MONOTONIC");
		return -ENOTSUP;
	}
	if (slot->counter->chains != NULL) {
		if (!known)
			slot->rate = rate[0];
		return tick_calibrate(slot);
	}
	persecond = world->persecond();
	if (unit == CPUC_NOMINAL &&
	    tick_within(known ? slot->rate : rate[0], persecond, 100))
		return 0;
	if (known) {
		slot->scale = cpuc_scale_of(persecond, slot->rate);
		return 0;
	}
	slot->rate = 0;
	if (unit != CPUC_NOMINAL && !tick_plausible(rate, persecond)) {
		cpuc_reason(slot,
			    "cycles per second over its rate, %llu/%llu, is no "
			    "multiple of 1/1024 ... 1",
			    (unsigned long long)persecond,
			    (unsigned long long)rate[0]);
		cpuc_hint(slot, "put the right rate into "
				"/etc/cpucyclespersecond");
		return -ENOTSUP;
	}
	slot->scale = tick_rounded(persecond, rate[0]);
	slot->rate = rate[0];
	return 0;
}
