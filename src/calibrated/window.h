/* SPDX-License-Identifier: 0BSD */
/* Windows and glimpses: runs of a chain, timed by the clock. */
#ifndef CPUC_WINDOW_H
#define CPUC_WINDOW_H

#include "calibration.h"
#include "chain.h"

/* The rate of a core with this ratio, Hz; 0: not plausible. */
uint64_t cpuc_core_hz(const struct cpuc_calibration *s, uint64_t ratio);

/* `turns`, scaled to take as long at `near_ratio` as they do at s->ratio; and
 * the cycles of a short run's links, with so many fraction bits. */
uint32_t cpuc_window_turns(const struct cpuc_calibration *s, uint32_t turns,
			   uint64_t near_ratio);
uint64_t cpuc_links_cycles(const struct cpuc_calibration *s, uint32_t turns);
#define CPUC_OVERHEAD_BITS 4

/* Runs a glimpse. Its overhead: what it takes beyond its links, in cycles <<
 * CPUC_OVERHEAD_BITS, about the same each time if this is the core's ratio. */
int32_t cpuc_run_glimpse(const struct cpuc_calibration *s, uint64_t ratio);

/* By how much that differs if the ratio differs by so many 2^-20. */
int32_t cpuc_glimpse_part(const struct cpuc_calibration *s, uint64_t ratio,
			  uint32_t part);

/* Whether a glimpse is made in the guard: where one store cannot change the
 * tick at which an interval began. */
#define CPUC_GLIMPSE_GUARDED (sizeof(uintptr_t) < sizeof(uint64_t))

/* What both runs of a window take beyond their links: a mean over many windows
 * of one length, in which cpuc_run_window() takes another one. */
struct cpuc_overhead {
	int32_t cycles;   /* << CPUC_OVERHEAD_BITS */
	uint16_t windows; /* in the mean */
};

/* Runs a window of so many turns, and learns its overhead. The ratio, which is
 * near `near_ratio`: from both runs if their overhead is known, else from
 * their difference, more than twice as uncertain where the clock is coarse. 0:
 * not plausible. */
uint64_t cpuc_run_window(struct cpuc_overhead *o, uint32_t turns,
			 uint64_t near_ratio);

#endif
