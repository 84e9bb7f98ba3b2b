/* SPDX-License-Identifier: 0BSD */
/* Tries counters, measures them and chooses one. All under the lock, between
 * cpuc_probe_begin and cpuc_probe_end. */
#ifndef CPUC_SELECT_H
#define CPUC_SELECT_H

#include "slot.h"

/* The slot to use of slots[0 ... n). `wanted` names one to be tried before,
 * and instead of, all others; NULL: none. NULL when nothing works, which is not
 * so among all counters of cycles. */
struct cpuc_slot *cpuc_select(struct cpuc_slot *slots, size_t n,
			      const char *wanted);

/* Tries one slot and fills in the result. */
void cpuc_try(struct cpuc_slot *slot);

/* Closes the calling thread's events of all counters but this one. */
void cpuc_close_others(struct cpuc_slot *slots, size_t n,
		       const struct cpuc_slot *used);

/* The slot of this name; NULL: there is none. */
struct cpuc_slot *cpuc_find(struct cpuc_slot *slots, size_t n,
			    const char *name);

#endif
