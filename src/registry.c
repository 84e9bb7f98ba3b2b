/* SPDX-License-Identifier: 0BSD */
/* The counters that this host has, from counters.def and
 * instructions.def. */
#include <config.h>
#include "registry.h"

/* COUNTER's second argument is HAVE_COUNTER_..., which config.h makes 0 or 1:
 * pasted, it keeps the row or drops it. */
#define KEEP(have) KEEP_(have)
#define KEEP_(have) KEEP_##have
#define KEEP_0(...)
#define KEEP_1(...) __VA_ARGS__

#define COUNTER(id, have, ...) \
	KEEP(have)(extern const struct cpuc_counter cpuc_counter_##id;)
#include "counters/counters.def"
#undef COUNTER

struct cpuc_slot cpuc_slots[] = {
#define COUNTER(id, have, ...) KEEP(have)({.counter = &cpuc_counter_##id}, )
#include "counters/counters.def"
};

#undef COUNTER

const size_t cpuc_slot_count = sizeof cpuc_slots / sizeof *cpuc_slots;

#define COUNTER(id, have) \
	KEEP(have)(extern const struct cpuc_counter cpuc_instructions_##id;)
#include "counters/instructions.def"
#undef COUNTER

struct cpuc_slot cpuc_instructions_slots[] = {
#define COUNTER(id, have) KEEP(have)({.counter = &cpuc_instructions_##id}, )
#include "counters/instructions.def"
	/* C has no empty arrays. */
	{.counter = NULL}};

const size_t cpuc_instructions_slot_count =
	sizeof cpuc_instructions_slots / sizeof *cpuc_instructions_slots - 1;
