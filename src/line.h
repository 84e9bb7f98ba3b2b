/* SPDX-License-Identifier: 0BSD */
/* The straight line of ticks and cycles on which a thread counts. */
#ifndef CPUC_LINE_H
#define CPUC_LINE_H

#include "ratio.h"
#include "rseq.h"

/* The count is cycles + (t - tick) * ratio while t - tick < due, and while the
 * thread's word is `armed`. Another line takes its place by one store of a
 * pointer. */
struct cpuc_line {
	uint64_t tick;
	uint64_t cycles;
	uint64_t ratio;
	uint32_t due;    /* 0 before the thread's first count */
	uint32_t serial; /* another one for each line */
	uintptr_t armed;
	cpuc_rseq_word *word; /* if the thread has none: one of the library's */
	uint64_t last;        /* count; a handler may have been given more */

	/* For the slow path. */
	struct calibrated_state *of;
	uint64_t ran; /* ns, the thread's clock; 0: unknown */
	uint64_t at;  /* the tick of that; uninterrupted since then */
};

/* A tick at which the thread's clock was `ran`; 0: unknown. */
struct cpuc_instant {
	uint64_t tick;
	uint64_t ran;
	bool interrupted; /* since the line's tick */
};

/* The count at that instant, and not below `last`. Nobody looked at the ratio
 * after `due`: the core has had `ratio` since a moment later. */
uint64_t cpuc_line_count(const struct cpuc_line *l,
			 const struct cpuc_instant *i, uint64_t ratio,
			 uint64_t last);

/* Ticks from one to the other; 0 where this core's clock is behind the last
 * one's. */
static inline uint64_t cpuc_line_since(uint64_t tick, uint64_t t)
{
	return (int64_t)(t - tick) < 0 ? 0 : t - tick;
}

#endif
