/* SPDX-License-Identifier: 0BSD */
/* Extends 32-bit counts, which wrap every second or two, to 64 bits. A second
 * clock predicts the full count roughly, and the hardware's low half makes it
 * exact. Each thread predicts from its own anchor, which its first count after
 * 0.1 s renews: threads share nothing, and an error in the rate cannot grow. */
#ifndef CPUC_EXTEND32_H
#define CPUC_EXTEND32_H

#include "../rate/clock.h"
#include "../system/os_clock.h"
#include "../thread/guard.h"

#define CPUC_EXTEND32_NS 100000000 /* an anchor older than this is replaced */

/* Ticks between two readings of one moment: much less than 2^31. */
#define CPUC_EXTEND32_NEAR (UINT32_C(1) << 28)

/* Ticks per nanosecond in fixed point: for 1 MHz it has 14 bits, which last for
 * years. Where the rate is unknown, a wrap is taken to last two seconds. */
#define CPUC_EXTEND32_BITS 24
#define CPUC_EXTEND32_TICKS(hz) \
	((uint32_t)(((uint64_t)(hz) << CPUC_EXTEND32_BITS) / 1000000000))
#define CPUC_EXTEND32_UNKNOWN CPUC_EXTEND32_TICKS(UINT32_C(1) << 31)

#define CPUC_EXTEND32_READS 1000 /* more in a tick: it stands still */

/* A moment at which a thread's full count was known. */
struct cpuc_anchor {
	uint64_t full; /* the count; 0: there was no such moment yet */
	uint64_t ns;   /* the second clock's reading then */
};

/* Of the 64-bit counts whose low half is `raw`, the one nearest to the
 * prediction for the moment `ns`. Never below 0. */
static inline uint64_t cpuc_extend32_at(struct cpuc_anchor from, uint32_t ticks,
					uint32_t raw, uint64_t ns)
{
	uint64_t passed = ns > from.ns ? ns - from.ns : 0;
	uint64_t guess =
		from.full +
		((passed >> 32) * ticks << (32 - CPUC_EXTEND32_BITS)) +
		((uint64_t)(uint32_t)passed * ticks >> CPUC_EXTEND32_BITS);
	int32_t off = (int32_t)(raw - (uint32_t)guess);

	if (from.full == 0 || (off < 0 && guess < (uint64_t) - (int64_t)off))
		return raw;
	return guess + (uint64_t)(int64_t)off;
}

/* The count now. Any thread may call it, and so may a signal handler. */
static inline __attribute__((unused)) long long
cpuc_extend32(struct cpuc_anchor *own, uint32_t ticks, uint32_t (*raw)(void))
{
	struct cpuc_anchor from;
	struct cpuc_guard guard;
	uint64_t ns, full;
	uint32_t before, low;

	/* A sleep beside the clock's reading would date the count wrongly, and
	 * an anchor that a signal handler has renewed may be ahead of it. */
	do {
		from.ns = own->ns;
		/* A handler that renews the anchor between here and the second
		 * look changes `ns`, at least. */
		CPUC_FENCE();
		from.full = own->full;
		before = raw();
		ns = cpuc_os_clock_coarse_ns();
		low = raw();
		CPUC_FENCE();
	} while (low - before > CPUC_EXTEND32_NEAR || own->ns != from.ns);
	full = cpuc_extend32_at(from, ticks, low, ns);
	/* Where there was no moment, it is as old as the second clock. */
	if (ns - from.ns > CPUC_EXTEND32_NS && cpuc_guard_enter(&guard)) {
		*own = (struct cpuc_anchor){full, ns};
		cpuc_guard_leave(&guard);
	}
	return (long long)full;
}

/* Measures the counter's rate, once and before any thread counts by it: the
 * slot has no reader yet. Any rate would do for so short a time. */
static inline __attribute__((unused)) int
cpuc_extend32_open(const struct cpuc_slot *slot, struct cpuc_clock *itself,
		   uint32_t *ticks)
{
	const long long begun = itself->tick();
	int reads = CPUC_EXTEND32_READS;

	while (itself->tick() == begun && --reads > 0)
		;
	if (reads > 0 && slot->reader.entry == NULL && cpuc_clock_rate(itself))
		*ticks = CPUC_EXTEND32_TICKS(itself->hz);
	return 0;
}

/* Defines counter ID, of the core cycles that ID_raw() reads. */
#define CPUC_EXTEND32(id, of_name)                                         \
	static uint32_t id##_ticks = CPUC_EXTEND32_UNKNOWN;                \
	static CPUC_TLS struct cpuc_anchor id##_own;                       \
                                                                           \
	static long long id##_read(void)                                   \
	{                                                                  \
		return cpuc_extend32(&id##_own, id##_ticks, id##_raw);     \
	}                                                                  \
                                                                           \
	static struct cpuc_clock id##_clock = {.tick = id##_read};         \
                                                                           \
	static int id##_open(struct cpuc_slot *slot)                       \
	{                                                                  \
		return cpuc_extend32_open(slot, &id##_clock, &id##_ticks); \
	}                                                                  \
                                                                           \
	CPUC_DEFINE_COUNTER(id, of_name, .kind = CPUC_CORE, .bits = 32,    \
			    .open = id##_open)

#endif
