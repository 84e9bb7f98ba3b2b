/* SPDX-License-Identifier: 0BSD */
/* A clock outside the core, however many counters read it: how it is read, its
 * rate and its resolution. */
#ifndef CPUC_CLOCK_H
#define CPUC_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "../slot.h"

struct cpuc_chain_ops;

struct cpuc_clock {
	/* Ticks, in 64 bits. */
	long long (*tick)(void);

	/* Ticks per second as the hardware or the firmware states them, which
	 * is confirmed before it is used; 0: unknown. NULL: nothing does. */
	uint64_t (*stated)(void);

	/* The chains that measure the core by this clock. NULL: none. */
	const struct cpuc_chain_ops *chains;

	/* Why chains cannot be trusted here, even if they agree; NULL: no
	 * reason is known. May be NULL itself. */
	const char *(*distrusted)(void);

	/* The engine finds these once a process, under the lock; a counter's
	 * file gives `hz` and `exact` where the interface defines the rate. */
	uint64_t hz;            /* ticks per second; 0: unknown as yet */
	bool exact;             /* stated and confirmed, or defined */
	bool traps;             /* a read takes more than a microsecond */
	bool tried;             /* to be calibrated */
	unsigned last_measured; /* in which selection */

	/* May run at the core's nominal rate: a tick counts as a cycle where
	 * the rate is within 1% of the nominal one, or unknown. Where the rate
	 * of another clock is unknown, its counters are dropped. */
	bool nominal;
};

/* Finds the rate, once a process; false: it cannot be measured, which is found
 * once a selection, whatever number of counters have this clock. May fault, if
 * the clock may not be read, as the next two may. */
bool cpuc_clock_rate(struct cpuc_clock *c);

/* A selection begins. */
void cpuc_clock_again(void);

/* Whether two rates differ by no more than 1/parts. */
bool cpuc_clock_within(uint64_t a, uint64_t b, uint64_t parts);

/* Whether the system's clock has steps too long to measure a rate by. */
bool cpuc_clock_coarse(void);

#define CPUC_CLOCK_UNMEASURED \
	"its rate cannot be measured against CLOCK_MONOTONIC"

/* Finds the scale from ticks to cycles of the nominal rate; false: the clock's
 * rate cannot be measured. */
bool cpuc_clock_scale(struct cpuc_clock *c, uint64_t nominal_hz,
		      struct cpuc_scale *scale);

/* The resolution now, in ticks; 0: the clock stands still. */
uint64_t cpuc_clock_grain(const struct cpuc_clock *c);

/* Sorts v[0 ... n). */
void cpuc_sort(uint64_t *v, unsigned n);

/* The counter ID of a clock of its own, which ID_read() reads. What follows the
 * kind are fields of the clock. */
#define CPUC_CLOCK_COUNTER(id, of_name, of_kind, ...)             \
	static struct cpuc_clock id##_clock = {.tick = id##_read, \
					       __VA_ARGS__};      \
                                                                  \
	const struct cpuc_counter cpuc_counter_##id = {           \
		.name = of_name,                                  \
		.kind = of_kind,                                  \
		.clock = &id##_clock,                             \
		.read = id##_read,                                \
	};

#endif
