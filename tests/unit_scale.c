/* SPDX-License-Identifier: 0BSD */
/* Fixed-point scaling against exact arithmetic; built twice, the second time
 * (-DWITHOUT_INT128) with the multiplication of hosts that lack __int128. */
#include <config.h>
#ifdef WITHOUT_INT128
#undef HAVE___INT128
#endif
#include <inttypes.h>
#include <stdbool.h>
#include "scale.h"
#include "cases.h"

struct wide {
	uint64_t high, low;
};

/* a * b by adding and doubling: slow, and nothing like what it checks. */
static struct wide product(uint64_t a, uint64_t b)
{
	struct wide p = {0, 0};

	for (int i = 63; i >= 0; i--) {
		p.high = p.high << 1 | p.low >> 63;
		p.low <<= 1;
		if (b >> i & 1) {
			p.low += a;
			p.high += p.low < a;
		}
	}
	return p;
}

static bool less_equal(struct wide a, struct wide b)
{
	return a.high < b.high || (a.high == b.high && a.low <= b.low);
}

/* Whether ticks * num / den, rounded down, is given off by at most one. */
static bool near(const struct cpuc_scale *s, uint64_t ticks, uint64_t num,
		 uint64_t den)
{
	uint64_t r = cpuc_scale_apply(s, ticks);
	struct wide exact = product(ticks, num);

	return (r == 0 || less_equal(product(r - 1, den), exact)) &&
	       !less_equal(product(r + 2, den), exact);
}

/* The largest tick count whose result stays below 2^63. */
static uint64_t largest(uint64_t num, uint64_t den)
{
	double limit = 9.2e18 / ((double)num / (double)den);

	return limit < 1.8e19 ? (uint64_t)limit : UINT64_MAX;
}

static void check_random(long cases)
{
	long i, bad = 0;

	for (i = 0; i < cases; i++) {
		uint64_t num = any(37) + 1, den = any(37) + 1;
		uint64_t t = any(64) % largest(num, den);
		struct cpuc_scale s = cpuc_scale_of(num, den);

		if (!near(&s, t, num, den) && bad++ == 0)
			diag("%" PRIu64 " * %" PRIu64 " / %" PRIu64
			     " gave %" PRIu64,
			     t, num, den, cpuc_scale_apply(&s, t));
	}
	ok(bad == 0, "%ld random ratios and counts are off by at most one",
	   cases);
}

static void check_edges(void)
{
	static const struct {
		uint64_t num, den;
	} ratio[] = {
		{100000000000, 1},
		{1, 100000000000},
		{UINT64_C(1) << 62, 1},
		{1, UINT64_C(1) << 62},
		{UINT64_MAX, UINT64_MAX - 1},
		{UINT64_MAX - 1, UINT64_MAX},
	};
	size_t i;

	for (i = 0; i < COUNT(ratio); i++) {
		uint64_t num = ratio[i].num, den = ratio[i].den;
		uint64_t most = largest(num, den), t;
		struct cpuc_scale s = cpuc_scale_of(num, den);
		int bad = !near(&s, most, num, den), bit;

		for (bit = 0; bit < 64; bit++) {
			t = UINT64_C(1) << bit;
			bad += t - 1 <= most && !near(&s, t - 1, num, den);
			bad += t <= most && !near(&s, t, num, den);
		}
		ok(bad == 0,
		   "%" PRIu64 "/%" PRIu64 " is right at every power of two",
		   num, den);
	}
}

int main(void)
{
	long cases = cases_begin(200000);

	check_edges();
	check_random(cases);
	return done_testing();
}
