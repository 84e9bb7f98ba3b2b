/* SPDX-License-Identifier: 0BSD */
/* What an interval counts, by what was seen of it: pure. Times are in ticks. */
#ifndef CPUC_INTERVAL_H
#define CPUC_INTERVAL_H

#include <stdbool.h>
#include <stdint.h>
#include "../system/scheduling.h"

/* Times that depend on the clock's rate and the machine. */
struct cpuc_bounds {
	uint32_t hides; /* what a switch may hide of what the thread ran */
	uint32_t wait;  /* a longer one would have cleared the word */
	uint32_t ramp;  /* in which a core reaches a new rate */
	uint32_t least; /* a shorter time tells nothing of the clock's rate */
};

/* What the thread's clock lacks though the thread is not switched out (slow,
 * lost), and what switches may hide (granted, waits): learnt at each closing,
 * and kept from one interval to the next. */
struct cpuc_lack {
	uint32_t lost : 26; /* ticks, at the latest readings: the host had it */
	uint32_t waits : 6; /* that may hide as much as a preemption does */
	uint16_t slow; /* 2^-16 of what it shows: interrupts, another machine */
	uint16_t granted; /* of pauses, not paid back: 2^-15 of the most */
};

/* What a thread has seen of one: by count_close() and count_observe(). */
struct cpuc_interval {
	uint64_t cycles; /* the count at its beginning */
	uint64_t ticks; /* its length; below 0 (int64_t): the clock is behind */
	uint64_t counted;      /* of these, up to the latest count */
	uint64_t ratio_before; /* that was in use */
	uint64_t ratio_after;  /* that its end shows */
	bool migrated;         /* to another CPU */

	/* The thread's clock, and how long ago it was last read. */
	bool clock_known;      /* false: `ran` is not known */
	uint64_t ran;          /* what it advanced since */
	uint64_t unread;       /* ticks from then to this interval; it ran */
	struct cpuc_lack lack; /* until now */
	uint32_t gap;     /* two calls so far apart may have a wait between */
	bool waits_clear; /* a wait clears the thread's word */
	bool interrupted; /* the word was cleared, in this interval or after it
			   */
	bool stood;       /* it was not yet cleared at the interval's end */
	struct cpuc_switches switches; /* since the kernel was last asked */
	bool switches_unknown;         /* it does not tell */
};

/* What follows from that. */
struct cpuc_closed {
	uint64_t cycles; /* the count at the interval's end */
	uint64_t ticks;  /* of the interval's, those that count */
	struct cpuc_lack lack;
	bool wait_missed; /* a wait has not cleared the word */
	bool paused;      /* the thread's clock shows a pause */
	bool compared;    /* or there was no switch, or none is seen */
};

/* Whether the thread's clock lacks more than a switch hides. */
bool cpuc_interval_doubted(const struct cpuc_interval *i, uint32_t hides);

struct cpuc_closed cpuc_interval_close(const struct cpuc_interval *i,
				       const struct cpuc_bounds *b);

#endif
