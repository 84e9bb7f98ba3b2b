/* SPDX-License-Identifier: 0BSD */
/* Ticks of a clock outside the core to core cycles, by a ratio that each
 * thread measures on its first call, and again every few milliseconds of
 * counting. */
#ifndef CPUC_CALIBRATE_H
#define CPUC_CALIBRATE_H

#include <signal.h>
#include "chain.h"
#include "thread.h"

/* The count is cycles + (t - tick) * ratio while t - tick < due. */
struct cpuc_base {
	uint64_t tick;
	uint64_t cycles;
	uint64_t ratio; /* CPUC_RATIO_BITS */
	uint32_t due;   /* ticks: when the ratio is to be measured again */
	volatile uint32_t ended; /* another one is about to go on from `end` */
};

/* What a thread has seen of its core's rate; track.c. */
struct cpuc_track {
	uint64_t ratio;  /* in use; 0: none yet */
	uint64_t mean;   /* of recent windows, the latest counting most */
	uint32_t spread; /* their mean deviation from it, 2^-20 */
	uint32_t weight; /* windows in the mean */
};

/* A thread's count. It owns nothing: the thread's end frees it, and the child
 * of a fork goes on with its copy. All zero is "not yet". */
struct cpuc_count {
	struct cpuc_base base[4];
	volatile sig_atomic_t use;  /* the base that counts */
	volatile sig_atomic_t busy; /* a measurement is under way */
	volatile unsigned calls;    /* in the midst of one; modulo 2^32 */
	volatile uint64_t began;    /* its first tick */
	volatile uint64_t high;     /* the largest count given meanwhile */
	volatile uint64_t end;      /* of a base that has ended */
	struct cpuc_track track;
};

extern CPUC_THREAD struct cpuc_count cpuc_count;

/* The process's; settled before a calibrated counter is published. */
extern struct cpuc_ruler cpuc_ruler;

/* Calibrates for the process, as cpuc_ruler_make says; `hz` ticks per second.
 * Under the engine's lock. Once it succeeded it changes nothing. */
int cpuc_calibrate(const struct cpuc_chain_ops *ops, uint64_t hz,
		   const char **why, unsigned *permille);

/* track.c: measures, and gives the ratio to count with from now on; 0 when
 * there is none yet and no window was good. */
uint64_t cpuc_track_measure(struct cpuc_track *track);

/* The count at tick t, the slow way. */
uint64_t cpuc_calibrated_slow(uint64_t t);

/* The count at tick t, read just now. A signal handler that measures twice
 * between these loads leaves the base with fields of two measurements, which
 * its tick then tells. */
static inline uint64_t cpuc_calibrated(uint64_t t)
{
	const volatile struct cpuc_base *b = &cpuc_count.base[cpuc_count.use];
	uint64_t tick = b->tick, d = t - tick, n;

	if (__builtin_expect(d >= b->due, 0))
		return cpuc_calibrated_slow(t);
	n = b->cycles + (d * b->ratio >> CPUC_RATIO_BITS);
	if (__builtin_expect(b->tick != tick, 0))
		return cpuc_calibrated_slow(t);
	return n;
}

#endif
