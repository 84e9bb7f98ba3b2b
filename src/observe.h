/* SPDX-License-Identifier: 0BSD */
/* The rate of the core that this thread is running on, now. */
#ifndef CPUC_OBSERVE_H
#define CPUC_OBSERVE_H

#include "slot.h"

/* Hz; 0: it cannot be measured. By the chains of a calibrated counter among
 * slots[0 ... n), selected or not; or by the counter in use, `current`, if it
 * is a core counter. Under the lock, between cpuc_probe_begin and
 * cpuc_probe_end. */
uint64_t cpuc_observe(struct cpuc_slot *slots, size_t n,
		      const struct cpuc_slot *current);

#endif
