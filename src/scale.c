/* SPDX-License-Identifier: 0BSD */
/* The fixed-point form of a ratio. */
#include <config.h>
#include "scale.h"

struct cpuc_scale cpuc_scale_of(uint64_t num, uint64_t den)
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
	if (rest >= den - rest && s.mult != UINT64_MAX)
		s.mult++;
	return s;
}

double cpuc_scale_ratio(const struct cpuc_scale *s)
{
	double ratio = (double)s->mult;
	unsigned i;

	if (s->mult == 0)
		return 1;
	for (i = 0; i < s->shift; i++)
		ratio /= 2;
	return ratio;
}
