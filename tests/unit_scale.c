/* SPDX-License-Identifier: 0BSD */
/* Fixed-point scaling against exact arithmetic; built twice, the second time
 * (-DWITHOUT_INT128) with the multiplication of hosts that lack __int128. */
#include <config.h>
#ifdef WITHOUT_INT128
#undef HAVE___INT128
#endif
#include <inttypes.h>
#include "scale.h"
#include "cases.h"

/* Ratios a / b, of numbers with any common factor: then the exact result needs
 * no more than 64 bits. */
int main(void)
{
	long i, cases = cases_begin(200000), bad = 0;

	for (i = 0; i < cases; i++) {
		uint64_t a = any(31) + 1, b = any(31) + 1, factor = any(31) + 1;
		struct cpuc_scale s = cpuc_scale_of(a * factor, b * factor);
		uint64_t ticks = any(64), exact, got;

		if (ticks / b > INT64_MAX / a)
			ticks %= b;
		exact = ticks / b * a + ticks % b * a / b;
		got = cpuc_scale_apply(&s, ticks);
		if ((got > exact + 1 || got + 1 < exact) && bad++ == 0)
			diag("%" PRIu64 " * %" PRIu64 " / %" PRIu64
			     " gave %" PRIu64,
			     ticks, a, b, got);
	}
	ok(bad == 0, "%ld random ratios and counts are off by at most one",
	   cases);
	return done_testing();
}
