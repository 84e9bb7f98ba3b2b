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

int main(void)
{
	long i, cases = cases_begin(200000), bad = 0;

	for (i = 0; i < cases; i++) {
		uint64_t num = any(62) + 1, den = any(62) + 1;
		uint64_t t = any(64) % largest(num, den);
		struct cpuc_scale s = cpuc_scale_of(num, den);

		if (!near(&s, t, num, den) && bad++ == 0)
			diag("%" PRIu64 " * %" PRIu64 " / %" PRIu64
			     " gave %" PRIu64,
			     t, num, den, cpuc_scale_apply(&s, t));
	}
	ok(bad == 0, "%ld random ratios and counts are off by at most one",
	   cases);
	return done_testing();
}
