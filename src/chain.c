/* SPDX-License-Identifier: 0BSD */
/* Windows of known length, and the ratio that they show.
 *
 * A window is a chain between two stamps, less a brief chain between stamps
 * just before it. A stamp is the sum of several reads of the clock: these come
 * at different phases of its step, so that their mean resolves what one read
 * does not (the TSC of AMD's Zen steps by 26 ticks, 10 ns, as measured).
 *
 * Integers only: a floating-point operation could raise a flag, or a trap, in
 * the middle of the caller's arithmetic. */
#include <config.h>
#include <stddef.h>
#include "chain.h"
#include "clock.h"

/* Straight-line code: a mispredicted end of a loop would be 10 ticks. */
static uint64_t stamp(const struct cpuc_ruler *r)
{
	long long (*tick)(void) = r->ops->tick;
	uint64_t sum = (uint64_t)tick();

	if (r->reads == 1)
		return sum;
#define READ sum += (uint64_t)tick();
	READ READ READ READ READ READ READ READ READ READ READ READ READ READ
		READ
#undef READ
		return sum;
}

static uint64_t ratio_of(const struct cpuc_ruler *r, uint64_t ticks, unsigned n)
{
	uint64_t cycles = (uint64_t)r->chain->cycles * r->latency * r->turns;

	return ticks ? (cycles * n * r->reads << CPUC_RATIO_BITS) / ticks : 0;
}

/* A long window less a brief one, in sums of stamps; 0 when that is nothing:
 * interrupted, or the clock stopped or went back. */
static uint64_t one(const struct cpuc_ruler *r)
{
	uint64_t t[3], brief, whole;

	t[0] = stamp(r);
	r->chain->brief(r->turns);
	t[1] = stamp(r);
	r->chain->run(r->turns);
	t[2] = stamp(r);
	brief = t[1] - t[0];
	whole = t[2] - t[1];
	return whole > brief && whole >> 32 == 0 ? whole - brief : 0;
}

uint64_t cpuc_window(const struct cpuc_ruler *r)
{
	return ratio_of(r, one(r), 1);
}

void cpuc_window_warm(const struct cpuc_ruler *r)
{
	stamp(r);
	r->chain->brief(r->turns);
	r->chain->run(1);
}

static void sort(uint64_t *v, unsigned n)
{
	unsigned i, j;
	uint64_t x;

	for (i = 1; i < n; i++) {
		x = v[i];
		for (j = i; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

uint64_t cpuc_windows(const struct cpuc_ruler *r, unsigned n)
{
	uint64_t v[CPUC_WINDOWS_MAX] = {0}, near, mid, d, sum = 0;
	unsigned i, used = 0;

	cpuc_window_warm(r);
	for (i = 0; i < n; i++)
		v[i] = one(r);
	sort(v, n);
	mid = v[n / 2];
	/* Interrupts lengthen windows by a lot; a clock's step, a dithering
	 * rate and another hardware thread change them by a little. */
	near = mid / 16 + (uint64_t)r->step * r->reads / 2;
	for (i = 0; i < n; i++) {
		d = v[i] > mid ? v[i] - mid : mid - v[i];
		if (v[i] == 0 || d > near)
			continue;
		sum += v[i];
		used++;
	}
	return 3 * used >= n ? ratio_of(r, sum, used) : 0;
}

int32_t cpuc_deviation(uint64_t a, uint64_t b)
{
	if (a / 2 >= b)
		return 1 << 20;
	/* An interrupt in a window's brief part makes any ratio of it: the
	 * product must hold that as well. */
	while (b >> 42 != 0) {
		a /= 2;
		b /= 2;
	}
	return (int32_t)((int64_t)(a - b) * (1 << 20) / (int64_t)b);
}

uint64_t cpuc_core_rate(const struct cpuc_ruler *r, uint64_t ratio)
{
	uint64_t rate;

	if (ratio >> 44 != 0)
		return 0;
	/* 64-bit arithmetic alone: 16 bits off one factor, 8 off the other. */
	rate = (ratio >> 16) * (r->hz >> 8) >> 8;
	return rate >= CPUC_CORE_HZ_MIN && rate <= CPUC_CORE_HZ_MAX ? rate : 0;
}
