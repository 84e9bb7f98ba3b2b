/* SPDX-License-Identifier: 0BSD */
/* 32-bit counts to 64 bits, with the help of a second clock. */
#ifndef CPUC_EXTEND32_H
#define CPUC_EXTEND32_H

#include <stdint.h>

/* A moment at which the full count was known. */
struct cpuc_anchor {
	uint64_t full; /* the count at that moment */
	uint64_t ns;   /* that moment, on the second clock */
	uint64_t rate; /* ticks per second, about; 0: unknown, taken as
			  2^31, so that a wrap takes two seconds */
};

/* The 64-bit count, of those whose low half is `raw`, that is nearest to
 * the anchor's prediction for the moment `ns`. Right as long as the
 * prediction is right within 2^31 ticks. Never below 0. */
uint64_t cpuc_extend32_at(const struct cpuc_anchor *from, uint32_t raw,
			  uint64_t ns);

/* The same for this moment, for the calling thread, which remembers a recent
 * anchor of its own; `first` serves a thread that has none. Reads the raw
 * count by itself. From any thread, also within a signal handler. */
uint64_t cpuc_extend32(const struct cpuc_anchor *first,
		       long long (*read)(void));

#endif
