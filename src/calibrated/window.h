/* SPDX-License-Identifier: 0BSD */
/* The windows of a thread. */
#ifndef CPUC_WINDOW_H
#define CPUC_WINDOW_H

#include "calibration.h"

/* What both runs of a window take beyond their links, in core cycles with
 * CPUC_OVERHEAD_BITS fraction bits: a mean over many windows of one length. */
struct cpuc_overhead {
	int32_t cycles;
	uint16_t known; /* windows in the mean */
};

/* The ratio, near `near_ratio`, by a window of so many turns: from both runs if
 * their overhead is known, else from their difference, more than twice as
 * uncertain where the clock is coarse. 0: not plausible. */
uint64_t cpuc_window(struct cpuc_overhead *o, uint32_t turns,
		     uint64_t near_ratio);

#endif
