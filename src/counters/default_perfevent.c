/* SPDX-License-Identifier: 0BSD */
/* default-perfevent: read(2) of this thread's cycles event: as true as a
 * register, at the price of two system calls.
 *
 * The event is pinned, so others wait for it. If other pinned events leave it
 * no register, it is opened unpinned and takes turns: the count stands still in
 * between, and is not scaled up by the time on a register. That would be a
 * guess, and could make the count go back. */
#include <config.h>
#include "../perf/read.h"
#include "../slot.h"

static struct cpuc_event_set default_perfevent_cycle_events;

static long long default_perfevent_read(void)
{
	return cpuc_perf_slow(&default_perfevent_cycle_events);
}

const struct cpuc_counter cpuc_counter_default_perfevent = {
	.name = "default-perfevent",
	.kind = CPUC_CORE_KERNEL,
	.events = &default_perfevent_cycle_events,
	.read = default_perfevent_read,
};

static struct cpuc_event_set default_perfevent_instruction_events = {
	.counts = PERF_COUNT_HW_INSTRUCTIONS,
};

static long long default_perfevent_instructions_read(void)
{
	return cpuc_perf_slow(&default_perfevent_instruction_events);
}

const struct cpuc_counter cpuc_instructions_default_perfevent = {
	.name = "default-perfevent",
	.kind = CPUC_CORE_KERNEL,
	.events = &default_perfevent_instruction_events,
	.cycles = &cpuc_counter_default_perfevent,
	.read = default_perfevent_instructions_read,
};
