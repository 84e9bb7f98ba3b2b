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

	/* The chains that measure the core by this clock, and why they cannot
	 * be trusted here even if they agree; NULL: they can. */
	const struct cpuc_chain_ops *chains;
	const char *(*distrusted)(void);
	/* Whether this is no virtual machine, on which interrupts may come
	 * late; NULL: not known. */
	bool (*bare)(void);

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

/* Whether two rates differ by no more than 1/parts. */
bool cpuc_clock_within(uint64_t a, uint64_t b, uint64_t parts);

/* Whether the system's clock has steps too long to measure a rate by. */
bool cpuc_clock_coarse(void);

#define CPUC_CLOCK_UNMEASURED \
	"its rate cannot be measured against CLOCK_MONOTONIC"

/* Finds the scale from ticks to cycles at the nominal rate. False: the clock's
 * rate cannot be measured. May fault, too. */
bool cpuc_clock_scale(struct cpuc_clock *c, uint64_t nominal_hz,
		      struct cpuc_scale *scale);

/* The resolution now, in ticks, or by what reads scatter if that is more; 0:
 * the clock stands still. *step: the resolution alone. */
uint64_t cpuc_clock_grain(const struct cpuc_clock *c, uint64_t *step);

void cpuc_sort(uint64_t *v, unsigned n);

/* Defines PREFIX_chains, of these CPUC_CHAIN(), and of this slack, links and
 * loop. */
#define CPUC_CHAINS(prefix, of_slack, of_links, of_loop, ...)              \
	static const struct cpuc_chain prefix##_chain[] = {__VA_ARGS__};   \
	_Static_assert(sizeof prefix##_chain <=                            \
			       CPUC_CHAINS_MAX * sizeof *prefix##_chain,   \
		       "more chains than a proof has room for");           \
	static const struct cpuc_chain_ops prefix##_chains = {             \
		.chain = prefix##_chain,                                   \
		.nchains = sizeof prefix##_chain / sizeof *prefix##_chain, \
		.slack = of_slack,                                         \
		.links = of_links,                                         \
		.loop = of_loop,                                           \
	};

/* Defines counter ID and its clock, which ID_read() reads. The arguments after
 * the kind initialise fields of the clock. */
#define CPUC_CLOCK_COUNTER(id, of_name, of_kind, ...)             \
	static struct cpuc_clock id##_clock = {.tick = id##_read, \
					       __VA_ARGS__};      \
                                                                  \
	CPUC_DEFINE_COUNTER(id, of_name, .kind = of_kind, .clock = &id##_clock)

#endif
