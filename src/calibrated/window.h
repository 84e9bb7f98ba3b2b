/* SPDX-License-Identifier: 0BSD */
/* The windows and glimpses of a thread. */
#ifndef CPUC_WINDOW_H
#define CPUC_WINDOW_H

#include "calibration.h"

/* What both runs of a window take beyond their links, in core cycles with
 * CPUC_OVERHEAD_BITS fraction bits: the mean of many windows of one length, as
 * one alone is as uncertain as the clock is coarse. All zero at first. */
struct cpuc_overhead {
	int32_t cycles;
	uint16_t known; /* windows in the mean */
};

#define CPUC_OVERHEAD_BITS 4

/* Measures the ratio, which is near `about`, by a window of so many turns: from
 * both runs if their overhead is known, else from their difference, which is
 * three times as uncertain where the clock is coarse. 0: not plausible. */
uint64_t cpuc_window(struct cpuc_overhead *o, uint32_t turns, uint64_t about);

/* What a glimpse takes beyond its links, in cycles with CPUC_OVERHEAD_BITS
 * fraction bits, if the ratio is `mean`: always about the same, unless the
 * ratio is another one. */
int32_t cpuc_glimpse(const struct cpuc_calibration *s, uint64_t mean);

/* Whether a glimpse is made in the guard: where one store cannot change the
 * tick at which an interval began. */
#define CPUC_GLIMPSE_GUARDED (sizeof(uintptr_t) < sizeof(uint64_t))

/* So many 2^-20 of the links, in the same unit: by how much a glimpse differs
 * if the ratio differs from `mean` by that. */
int32_t cpuc_glimpse_part(const struct cpuc_calibration *s, uint64_t mean,
			  uint32_t part);

#endif
