/* SPDX-License-Identifier: 0BSD */
/* The counters of this host, most preferred first, and their slots: of cycles,
 * and of instructions. */
#ifndef CPUC_REGISTRY_H
#define CPUC_REGISTRY_H

#include "slot.h"

extern struct cpuc_slot cpuc_slots[];
extern const size_t cpuc_slot_count;

extern struct cpuc_slot cpuc_instructions_slots[];
extern const size_t cpuc_instructions_slot_count; /* may be 0 */

#endif
