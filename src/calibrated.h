/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles, from the ticks of a clock outside the core,
 * by a ratio that the thread measures again and again. Where the kernel tells
 * (rseq.h), the time for which the thread does not run is left out. */
#ifndef CPUC_CALIBRATED_H
#define CPUC_CALIBRATED_H

#include "line.h"
#include "thread.h"

/* Never NULL. */
extern CPUC_THREAD struct cpuc_line *cpuc_own_line;

/* The count, the slow way: at a tick that was read just now, `d` after that of
 * the base that was armed with this; 0: at one to be read. */
uint64_t cpuc_calibrated_slow(uintptr_t armed, uint64_t d);

/* The count now. The check of the word covers all that may come between a
 * call's first load and its last: no signal handler replaced the base, and the
 * thread ran. */
static inline __attribute__((unused)) uint64_t
cpuc_calibrated(long long (*clock)(void))
{
	struct cpuc_line *l = cpuc_own_line;
	uintptr_t armed = *(const volatile uintptr_t *)&l->armed;
	uint64_t d, n;

	CPUC_FENCE();
	d = (uint64_t)clock() - l->tick;
	if (__builtin_expect(d >= l->due, 0))
		return cpuc_calibrated_slow(armed, d);
	n = l->cycles + (d * l->ratio >> CPUC_RATIO_BITS);
	CPUC_FENCE();
	if (__builtin_expect(*(const uintptr_t *)l->word != armed, 0))
		return cpuc_calibrated_slow(0, 0);
	l->last = n;
	return n;
}

#endif
