/* SPDX-License-Identifier: 0BSD */
/* The steps of a selection, each in the file of its name. */
#ifndef CPUC_ENGINE_H
#define CPUC_ENGINE_H

#include "counter.h"

/* What a selection takes as given; tests give other things. */
struct cpuc_world {
	uint64_t persecond;	  /* Hz */
	uint64_t (*now_ns)(void); /* a clock that never goes back */
};

/* registry.c: the counters of this host in order of preference, and their
 * slots. */
extern struct cpuc_slot cpuc_slots[];
extern const size_t cpuc_slot_count;

/* compose.c: chooses slot->entry and slot->of for the counter's width and
 * slot->scale. */
void cpuc_compose(struct cpuc_slot *slot);

/* compose.c: the slot whose counts the composed entries give. Never NULL. */
extern const struct cpuc_slot *cpuc_current;

/* rate.c: settles slot->scale (and slot->rate, where it can be measured).
 * 0, or a negative errno with the reason kept. */
int cpuc_settle_scale(struct cpuc_slot *slot, const struct cpuc_world *world);

/* measure.c: whether the slot's composed reader advances and never goes back,
 * and its smallest step in cycles. 0, or a negative errno with the reason
 * kept. */
int cpuc_measure(struct cpuc_slot *slot, long long *step);

/* select.c: the slot to use of slots[0 ... n). `wanted` names one to be
 * tried before, and instead of, all others; NULL: none. Between
 * cpuc_probe_begin and cpuc_probe_end. NULL when nothing works. */
struct cpuc_slot *cpuc_select(struct cpuc_slot *slots, size_t n,
			      const char *wanted,
			      const struct cpuc_world *world);

/* select.c: a slot that works where nothing can be tried, because handlers for
 * faults cannot be installed: a clock of the system, or else the last slot. */
struct cpuc_slot *cpuc_last_resort(struct cpuc_slot *slots, size_t n,
				   const struct cpuc_world *world);

/* first.c: the serial number of this selection. What one counter finds out for
 * others in open() holds as long as this is the same. */
extern unsigned cpuc_selection;

/* select.c: tries one slot and fills in what was found. */
void cpuc_try(struct cpuc_slot *slot, const struct cpuc_world *world);

/* persecond.c: what cpucycles_persecond() gives, in Hz. Under the lock,
 * between cpuc_probe_begin and cpuc_probe_end. */
uint64_t cpuc_persecond(void);

/* persecond.c: an environment variable, unless privileges are raised. */
const char *cpuc_getenv(const char *name);

/* first.c: what cpucycles is before the first call, and where a reader goes
 * that finds its state not yet visible: waits for a selection, or makes it,
 * and counts. */
long long cpuc_first(void);

/* observe.c: the core's rate now in Hz; 0: no way to measure it. Under the
 * lock, between cpuc_probe_begin and cpuc_probe_end. */
uint64_t cpuc_observe(void);

/* rate.c: the clock that a counter reads, before calibration. */
long long (*cpuc_clock_of(const struct cpuc_counter *c))(void);

/* first.c: tries a slot that the selection passed over because it could not
 * win. Under the lock. */
void cpuc_examine(struct cpuc_slot *slot);

/* first.c: the selected slot; selects if nothing has. Never NULL. */
const struct cpuc_slot *cpuc_selected(void);

/* trace.c: a line for each counter, to stdout. */
void cpuc_trace(void);

#endif
