/* SPDX-License-Identifier: 0BSD */
/* The slots of this host's counters, most preferred first. */
#ifndef CPUC_REGISTRY_H
#define CPUC_REGISTRY_H

#include "slot.h"

extern struct cpuc_slot cpuc_slots[];
extern const size_t cpuc_slot_count;

extern struct cpuc_slot cpuc_instructions_slots[];
extern const size_t cpuc_instructions_slot_count; /* may be 0 */

#endif
