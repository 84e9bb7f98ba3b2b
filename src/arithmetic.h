/* SPDX-License-Identifier: 0BSD */
/* Arithmetic without floating point, and without 128-bit numbers. */
#ifndef CPUC_ARITHMETIC_H
#define CPUC_ARITHMETIC_H

#include <stdbool.h>
#include <stdint.h>

#define CPUC_PERMILLE(n) ((n) * (UINT32_C(1) << 20) / 1000)

/* |a - b| in 2^-20 of b, at most 2^20, as `near` is. */
static inline uint32_t cpuc_apart(uint64_t a, uint64_t b)
{
	uint64_t d = a > b ? a - b : b - a;

	if (d >= b)
		return UINT32_C(1) << 20;
	for (; b >> 43 != 0; b /= 2)
		d /= 2;
	return (uint32_t)((d << 20) / b);
}

/* Whether a is b, or differs from it by no more than 1/parts of b. */
static inline bool cpuc_within(uint64_t a, uint64_t b, uint64_t parts)
{
	return (a > b ? a - b : b - a) <= b / parts;
}

static inline uint64_t cpuc_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a - b, but not less than 0: a core's clock may be behind another one's. */
static inline uint64_t cpuc_sub_sat(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0 ? 0 : a - b;
}

/* ticks * ratio, which has 32 fraction bits: for any number of ticks, and for
 * few exactly as the fast path does it. */
static inline uint64_t cpuc_scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

void cpuc_sort(uint64_t *v, unsigned n);

/* The mean of those of v[] `near` their median; 0: fewer than `need` are, or
 * none. Sorts v. */
uint64_t cpuc_middle(uint64_t *v, unsigned n, unsigned need, uint32_t near);

#endif
