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

/* The ratio as a double, against one by floating point, whose divisions by 2
 * are exact; and that in millionths, which loses no more than its product does.
 */
static int as_double(const struct cpuc_scale *s)
{
	double ratio, want = s->mult == 0 ? 1 : (double)s->mult, millionths;
	unsigned i;

	for (i = 0; s->mult != 0 && i < s->shift; i++)
		want /= 2;
	cpuc_scale_ratio(s, &ratio);
	/* Also the sign of zero.
	 * NOLINTNEXTLINE(*memory-comparison,cert-exp42-c,cert-flp37-c) */
	if (memcmp(&ratio, &want, sizeof want) != 0)
		return 0;
	/* Of 43 bits at most, so that some are left for the fraction. */
	if (want > 1e7)
		return 1;
	millionths = (double)cpuc_scale_millionths(&want) - want * 1e6;
	return millionths >= -0.501 && millionths <= 0.501;
}

static void check_doubles(long cases)
{
	static const struct {
		struct cpuc_scale scale;
		uint64_t millionths;
	} edges[] = {
		{{0, 0}, 1000000},                 /* 1 */
		{{UINT64_MAX, 64}, 1000000},       /* rounds up to 1 */
		{{UINT64_C(1) << 63, 70}, 7813},   /* 0.0078125: up */
		{{UINT64_C(1) << 63, 126}, 0},     /* 2^-63 */
		{{UINT64_C(3) << 31, 32}, 1500000} /* as a calibration's */
	};
	const double zero = 0;
	double ratio;
	long i, bad = cpuc_scale_millionths(&zero) != 0;

	for (i = 0; i < (long)COUNT(edges); i++) {
		cpuc_scale_ratio(&edges[i].scale, &ratio);
		bad += cpuc_scale_millionths(&ratio) != edges[i].millionths ||
		       !as_double(&edges[i].scale);
	}
	ok(bad == 0, "millionths round as they should, and 0 is 0");
	for (bad = i = 0; i < cases; i++) {
		struct cpuc_scale s = {rnd() | UINT64_C(1) << 63,
				       (unsigned)(rnd() % 127)};

		/* A calibration's; halves between two doubles, and one more. */
		if (i % 4 == 0)
			s = (struct cpuc_scale){any(44) + 1, 32};
		else if (i % 4 == 1)
			s.mult = (s.mult & ~UINT64_C(0x7ff)) + 0x400 +
				 (i % 8 == 5);
		bad += !as_double(&s);
	}
	ok(bad == 0, "%ld random ratios are the nearest doubles", cases);
}

/* Ratios a / b, of numbers with any common factor: then the exact result needs
 * no more than 64 bits. */
int main(void)
{
	long i, cases = cases_begin(200000), bad = 0;

	check_doubles(cases);
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
