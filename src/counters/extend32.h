/* SPDX-License-Identifier: 0BSD */
/* Extends 32-bit counts to 64 bits, with the help of a second clock.
 *
 * A count that wraps every second or two is ambiguous by itself. The second
 * clock predicts the full count roughly, and the hardware's low half makes it
 * exact. Each thread predicts from an anchor of its own, which its first count
 * after 0.1 seconds renews. So threads share nothing, and while a thread keeps
 * counting, an error in the rate has no time to grow. */
#ifndef CPUC_EXTEND32_H
#define CPUC_EXTEND32_H

#include "../slot.h"
#include "../system/os_clock.h"
#include "../thread/thread.h"

#define CPUC_EXTEND32_NS 100000000 /* an anchor older than this is replaced */

/* A moment at which a thread's full count was known. */
struct cpuc_anchor {
	uint64_t full; /* the count; 0: there was no such moment yet */
	uint64_t ns;   /* the second clock */
};

/* Of the 64-bit counts whose low half is `raw`, the one nearest to the
 * prediction for the moment `ns`. Right if the prediction is off by less than
 * 2^31 ticks. Never below 0. An unknown rate is taken as 2^31 Hz: a wrap in two
 * seconds. */
static inline uint64_t cpuc_extend32_at(struct cpuc_anchor from, uint64_t rate,
					uint32_t raw, uint64_t ns)
{
	uint64_t passed = ns > from.ns ? ns - from.ns : 0;
	uint64_t hz = rate ? rate : UINT64_C(1) << 31;
	uint64_t guess = from.full + passed / 1000000000 * hz +
			 passed % 1000000000 / 1000 * hz / 1000000;
	int32_t step = (int32_t)(raw - (uint32_t)guess);

	if (from.full == 0 || (step < 0 && guess < (uint64_t) - (int64_t)step))
		return raw;
	return guess + (uint64_t)(int64_t)step;
}

/* The count now. Any thread may call it, and so may a signal handler. */
static inline __attribute__((unused)) long long
cpuc_extend32(struct cpuc_anchor *own, uint64_t rate, uint32_t (*raw)(void))
{
	struct cpuc_anchor from;
	struct cpuc_guard guard;
	uint64_t ns, full;
	uint32_t low;

	/* A sleep between the two would date the count wrongly. */
	do {
		ns = cpuc_os_clock_coarse_ns();
		low = raw();
	} while (cpuc_os_clock_coarse_ns() - ns > CPUC_EXTEND32_NS);
	/* Again, if a signal handler has renewed the anchor meanwhile. */
	do {
		from.ns = own->ns;
		CPUC_FENCE();
		from.full = own->full;
		CPUC_FENCE();
	} while (own->ns != from.ns);
	full = cpuc_extend32_at(from, rate, low, ns);
	/* Where there was no moment, it is as old as the second clock. */
	if (ns - from.ns > CPUC_EXTEND32_NS && cpuc_guard_enter(&guard)) {
		*own = (struct cpuc_anchor){full, ns};
		cpuc_guard_leave(&guard);
	}
	return (long long)full;
}

/* Defines counter ID, of the core cycles that ID_raw() reads. */
#define CPUC_EXTEND32(id, of_name)                                    \
	static uint64_t id##_rate;                                    \
	static CPUC_TLS struct cpuc_anchor id##_own;                  \
                                                                      \
	static long long id##_read(void)                              \
	{                                                             \
		return cpuc_extend32(&id##_own, id##_rate, id##_raw); \
	}                                                             \
                                                                      \
	const struct cpuc_counter cpuc_counter_##id = {               \
		.name = of_name,                                      \
		.kind = CPUC_CORE,                                    \
		.bits = 32,                                           \
		.rate = &id##_rate,                                   \
		.read = id##_read,                                    \
	};

#endif
