/* SPDX-License-Identifier: 0BSD */
/* Ticks to cycles: multiplication by a ratio held in fixed point. */
#ifndef CPUC_SCALE_H
#define CPUC_SCALE_H

#include <float.h>
#include <stdint.h>
#include <string.h>

/* ticks -> ticks * mult / 2^shift. `mult` has its top bit set, so the ratio is
 * exact to 2^-64 of itself. {0, 0} means a ratio of exactly 1. */
struct cpuc_scale {
	uint64_t mult;  /* >= 2^63, or 0 */
	unsigned shift; /* 0 ... 127 */
};

/* The scale for num / den: both positive, the ratio between 2^-63 and 2^63. */
static inline struct cpuc_scale cpuc_scale_of(uint64_t num, uint64_t den)
{
	struct cpuc_scale s = {num / den, 0};
	uint64_t rest = num % den;

	if (num == den)
		return (struct cpuc_scale){0, 0};
	/* Long division, a bit at a time: 64 bits from the leading one on. */
	while (s.mult >> 63 == 0) {
		int bit = rest >= den - rest;

		rest = bit ? rest - (den - rest) : rest + rest;
		s.mult = s.mult << 1 | (uint64_t)bit;
		s.shift++;
	}
	/* No overflow: a ratio of 64-bit numbers is a power of 2, or differs
	 * from any power of 2 by more than 2^-65 of itself. */
	if (rest >= den - rest)
		s.mult++;
	return s;
}

/* The high and low half of a * b. */
static inline void cpuc_mul64(uint64_t a, uint64_t b, uint64_t *high,
			      uint64_t *low)
{
#ifdef HAVE___INT128
	__extension__ typedef unsigned __int128 uint128;
	uint128 p = (uint128)a * b;

	*high = (uint64_t)(p >> 64);
	*low = (uint64_t)p;
#else
	uint64_t al = (uint32_t)a, ah = a >> 32;
	uint64_t bl = (uint32_t)b, bh = b >> 32;
	uint64_t ll = al * bl, mid = ah * bl + (ll >> 32);
	uint64_t mid2 = al * bh + (uint32_t)mid;

	*high = ah * bh + (mid >> 32) + (mid2 >> 32);
	*low = (mid2 << 32) | (uint32_t)ll;
#endif
}

/* Rounds down; modulo 2^64. */
static inline uint64_t cpuc_scale_apply(const struct cpuc_scale *s,
					uint64_t ticks)
{
	uint64_t high, low;

	if (s->mult == 0)
		return ticks;
	cpuc_mul64(ticks, s->mult, &high, &low);
	if (s->shift >= 64)
		return high >> (s->shift - 64);
	if (s->shift == 0)
		return low;
	return high << (64 - s->shift) | low >> s->shift;
}

_Static_assert(DBL_MANT_DIG == 53,
	       "cpuc_scale_ratio() needs a double of IEEE 754's binary64");

/* The ratio as a number for display, to nearest. Made of its bits: an inexact
 * conversion would trap in programs that unmask the exception, and set its flag
 * in others. Without SSE no function returns a double. */
static inline void cpuc_scale_ratio(const struct cpuc_scale *s, double *ratio)
{
	uint64_t m = s->mult != 0 ? s->mult : 1, bits;
	uint64_t exponent = UINT64_C(1086) - s->shift;

	for (; m >> 63 == 0; m <<= 1)
		exponent--;
	bits = m >> 11;
	bits += (m & 0x7ff) + (bits & 1) > 0x400;
	/* The leading bit, or a carry, adds 1 to the exponent. */
	bits += (exponent - 1) << 52;
	memcpy(ratio, &bits, sizeof bits);
}

/* Such a number, or 0, in millionths, rounded; without floating point. */
static inline uint64_t cpuc_scale_millionths(const double *ratio)
{
	struct cpuc_scale s;
	uint64_t bits;

	memcpy(&bits, ratio, sizeof bits);
	if (bits == 0)
		return 0;
	s.mult = (bits & (UINT64_MAX >> 12)) | UINT64_C(1) << 52;
	s.shift = 1075 - (unsigned)(bits >> 52);
	return (cpuc_scale_apply(&s, 2000000) + 1) / 2;
}

#endif
