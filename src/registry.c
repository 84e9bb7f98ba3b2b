/* SPDX-License-Identifier: 0BSD */
/* This host's counters, from the lists that configure makes. Some count
 * instructions, too, by a second struct cpuc_counter of the same name. */
#include <config.h>
#include "registry.h"

#define DECLARE(id) extern const struct cpuc_counter cpuc_counter_##id;
#define SLOT(id) {.counter = &cpuc_counter_##id},

CPUC_COUNTERS(DECLARE)

struct cpuc_slot cpuc_slots[] = {CPUC_COUNTERS(SLOT)};

const size_t cpuc_slot_count = sizeof cpuc_slots / sizeof *cpuc_slots;

#define DECLARE_INSTRUCTIONS(id) \
	extern const struct cpuc_counter cpuc_instructions_##id;
#define SLOT_INSTRUCTIONS(id) {.counter = &cpuc_instructions_##id},

CPUC_INSTRUCTIONS(DECLARE_INSTRUCTIONS)

/* C has no empty arrays. */
struct cpuc_slot cpuc_instructions_slots[] = {
	CPUC_INSTRUCTIONS(SLOT_INSTRUCTIONS){.counter = NULL}};

const size_t cpuc_instructions_slot_count =
	sizeof cpuc_instructions_slots / sizeof *cpuc_instructions_slots - 1;
