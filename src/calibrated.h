/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, from the ticks of a clock outside the core,
 * by a ratio that the thread measures again and again. */
#ifndef CPUC_CALIBRATED_H
#define CPUC_CALIBRATED_H

#include "calibration.h"
#include "thread.h"

/* The count is cycles + (t - tick) * ratio while t - tick < due; all zero
 * before the thread's first call. */
struct cpuc_base {
	uint64_t tick;
	uint64_t cycles;
	uint64_t ratio;
	uint32_t due;    /* 0 while the base is being replaced */
	uint32_t serial; /* another one for each replacement */
};

extern CPUC_THREAD struct cpuc_base cpuc_own_base;

/* The count at tick t, the slow way: `t` was read just now. */
uint64_t cpuc_calibrated_slow(uint64_t t);

/* The count now. The check: the base is not stale, and no signal handler
 * replaced it between the two loads of `serial`. */
static inline uint64_t cpuc_calibrated(long long (*clock)(void))
{
	const struct cpuc_base *b = &cpuc_own_base;
	uint32_t serial = *(const volatile uint32_t *)&b->serial;
	uint64_t t, d, n;

	CPUC_FENCE();
	t = (uint64_t)clock();
	d = t - b->tick;
	if (__builtin_expect(d >= b->due, 0))
		return cpuc_calibrated_slow(t);
	n = b->cycles + (d * b->ratio >> CPUC_RATIO_BITS);
	CPUC_FENCE();
	if (__builtin_expect(b->serial != serial, 0))
		return cpuc_calibrated_slow(t);
	return n;
}

#endif
