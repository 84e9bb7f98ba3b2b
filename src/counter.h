/* SPDX-License-Identifier: 0BSD */
/* A counter as its file describes it, and as it was found on this machine. */
#ifndef CPUC_COUNTER_H
#define CPUC_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cpucycles.h"
#include "extend32.h"
#include "scale.h"

/* The rows of kinds.c, best first. */
enum cpuc_kind {
	CPUC_CORE,
	CPUC_CORE_KERNEL,
	CPUC_CALIBRATED,
	CPUC_REFERENCE,
	CPUC_OS,
	CPUC_ZERO
};

/* What one unit of the raw count is. */
enum cpuc_unit {
	/* A core cycle: taken as it is. */
	CPUC_CYCLE,
	/* A tick of a clock that may be the core's nominal clock: counts as
	 * a cycle when its rate agrees with cpucycles_persecond() within 1%
	 * or cannot be found out; otherwise scaled. */
	CPUC_NOMINAL,
	/* A tick of a clock with nothing to do with the core: scaled (or
	 * calibrated), or the counter is dropped. */
	CPUC_TICK,
	/* A unit of time, exact by definition of the interface: scaled, with
	 * no check of the ratio. */
	CPUC_TIME
};

struct cpuc_slot;
struct cpuc_chain_ops;

/* One counter; const, one in a file, listed in counters.def. */
struct cpuc_counter {
	const char *name; /* public: never changes */
	enum cpuc_kind kind;
	enum cpuc_unit unit;
	unsigned bits; /* 64, or 32: extended by extend32.c */
	bool per_thread; /* counts the calling thread's cycles alone */

	/* The raw count: as fast as it can be, from any thread. */
	long long (*read)(void);

	/* Of a calibrated counter, whose read gives cycles: its clock, and
	 * how the core's cycles are measured by it. NULL in all others. */
	const struct cpuc_chain_ops *chains;

	/* Gets ready and tells whether the counter may be used: 0, or a
	 * negative errno with cpuc_reason() called to say why and what would
	 * help. Asks the operating system, never tries the instruction: the
	 * engine does so afterwards. Runs guarded: a fault in it counts as a
	 * failure. May set slot->rate (Hz, exact). NULL: nothing to do. Called
	 * again at each selection that tries the counter. */
	int (*open)(struct cpuc_slot *slot);

	/* Where counters that read one clock share its rate as it was
	 * measured, Hz, 0 at first. NULL: no other reads this clock. */
	uint64_t *shared_rate;

	/* Undoes open for a counter that was not selected. NULL: nothing. */
	void (*close)(struct cpuc_slot *slot);
};

/* A counter on this machine. The first group is what callers' reads touch:
 * settled under the engine's lock before the slot is first published and
 * unchanged ever after, so that any thread may read it unlocked, and so that
 * counts of one counter stay comparable when it is selected again. */
struct cpuc_slot {
	const struct cpuc_counter *counter;
	long long (*entry)(void);  /* what cpucycles is set to; compose.c */
	struct cpuc_scale scale;   /* raw count to cycles */
	struct cpuc_anchor anchor; /* of a 32-bit counter */

	/* What entry does, for this slot whether selected or not. NULL when
	 * entry is the raw reader itself. */
	long long (*of)(const struct cpuc_slot *slot);
	uint64_t rate;	     /* ticks per second; 0: not known */
	bool settled;	     /* the first group is complete */
	bool tried;	     /* the last selection came to it */
	bool usable;	     /* as the last selection found it */
	bool failed;	     /* so it did when it was last tried */
	long long precision; /* cycles, kind included; 0: not usable */
	char reason[160];    /* why not usable; see cpuc_reason() */
};

/* Keeps the reason why a counter is not usable. Where something would help, it
 * follows the first "; ", which programs split at: "PORT is closed; open it".
 * Nothing else in a reason may be "; ". */
void cpuc_reason(struct cpuc_slot *slot, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The kind's public name, and the cycles it adds to a measured precision. */
const char *cpuc_kind_name(enum cpuc_kind kind);
enum cpucycles_kind_id cpuc_kind_id(enum cpuc_kind kind);
long long cpuc_kind_added(enum cpuc_kind kind);

#endif
