/* SPDX-License-Identifier: 0BSD */
/* Tries counters and chooses one: under the lock, with the probe open. */
#ifndef CPUC_SELECT_H
#define CPUC_SELECT_H

#include "slot.h"

/* The slot of slots[0 ... n) to use; NULL: none works. The one that `wanted`,
 * if not NULL, names is tried first and, if it works, no other. */
struct cpuc_slot *cpuc_select(struct cpuc_slot *slots, size_t n,
			      const char *wanted);

void cpuc_try(struct cpuc_slot *slot);

/* Closes the calling thread's events of all counters but this one. */
void cpuc_close_others(struct cpuc_slot *slots, size_t n,
		       const struct cpuc_slot *slot);

/* The slot of this name; NULL: there is none. */
struct cpuc_slot *cpuc_find(struct cpuc_slot *slots, size_t n,
			    const char *name);

#endif
