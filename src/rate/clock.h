/* SPDX-License-Identifier: 0BSD */
/* Clocks outside the core: how they are read, rate and resolution. */
#ifndef CPUC_CLOCK_H
#define CPUC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include "../slot.h"

struct cpuc_chain_ops;

struct cpuc_clock {
	long long (*tick)(void); /* in 64 bits */

	/* Ticks per second as stated, to be confirmed; 0: unknown. */
	uint64_t (*stated)(void);

	/* Those that measure the core by this clock; NULL: none do. */
	const struct cpuc_chain_ops *chains;

	/* Found once per process, under the lock; a counter's file sets `hz`
	 * and `exact` where the interface defines the rate. */
	uint64_t hz;            /* ticks per second; 0: not known yet */
	bool exact;             /* stated and confirmed, or defined */
	bool traps;             /* a read takes more than a microsecond */
	bool tried;             /* calibration has been tried */
	unsigned last_measured; /* the number of that selection */

	/* It may run at the core's nominal rate: a tick counts as a cycle if
	 * its rate is within 1% of that, or unknown. Counters of any other
	 * clock whose rate is unknown are dropped. */
	bool nominal;
};

/* Finds the rate, once per process. False: it cannot be measured, which is
 * tried once per selection. Faults if the clock may not be read. */
bool cpuc_clock_rate(struct cpuc_clock *c);

/* A selection begins. */
void cpuc_clock_again(void);

/* Whether the system's clock has steps too long to measure a rate by. */
bool cpuc_clock_coarse(void);

#define CPUC_CLOCK_UNMEASURED \
	"its rate cannot be measured against CLOCK_MONOTONIC"

/* Finds the scale from ticks to cycles at the nominal rate. False: the clock's
 * rate cannot be measured. May fault, too. */
bool cpuc_clock_scale(struct cpuc_clock *c, uint64_t nominal_hz,
		      struct cpuc_scale *scale);

/* The grain now, in ticks: the resolution, or what reads scatter by if that is
 * more; 0: the clock stands still. *resolution: that alone. */
uint64_t cpuc_clock_grain(const struct cpuc_clock *c, uint64_t *resolution);

/* Defines counter ID and its clock, which ID_read() reads. The arguments after
 * the kind initialise fields of the clock. */
#define CPUC_CLOCK_COUNTER(id, of_name, of_kind, ...)             \
	static struct cpuc_clock id##_clock = {.tick = id##_read, \
					       __VA_ARGS__};      \
                                                                  \
	CPUC_DEFINE_COUNTER(id, of_name, .kind = of_kind, .clock = &id##_clock)

#endif
