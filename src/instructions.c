/* SPDX-License-Identifier: 0BSD */
/* Instructions, counted like cycles. A slot is published before its reader. */
#include <config.h>
#include "slot.h"
#include "instructions.h"
#include "perf/perf.h"
#include "registry.h"

static struct cpuc_slot *instructions_slot;
static long long (*instructions_read)(void) = cpuc_first_instructions;

long long cpucycles_instructions(void)
{
	return __atomic_load_n(&instructions_read, __ATOMIC_ACQUIRE)();
}

static long long instructions_none(void)
{
	return -1;
}

void cpuc_instructions_choose(void)
{
	size_t n = cpuc_instructions_slot_count;
	struct cpuc_slot *slot = cpuc_select(cpuc_instructions_slots, n, NULL);
	long long (*read)(void) =
		slot != NULL ? slot->reader.entry : instructions_none;

	if (slot == NULL && n > 0)
		slot = &cpuc_instructions_slots[n - 1];
	/* Each paired with an acquire in another thread: who calls the reader
	 * sees the slot. */
	__atomic_store_n(&instructions_slot, slot, __ATOMIC_RELEASE);
	__atomic_store_n(&instructions_read, read, __ATOMIC_RELEASE);
}

struct cpuc_slot *cpuc_instructions_slot(void)
{
	return __atomic_load_n(&instructions_slot, __ATOMIC_ACQUIRE);
}

bool cpuc_instructions_chosen(const struct cpuc_counter **c)
{
	const struct cpuc_slot *slot = cpuc_instructions_slot();
	long long (*read)(void) =
		__atomic_load_n(&instructions_read, __ATOMIC_ACQUIRE);

	*c = slot != NULL && read == slot->reader.entry ? slot->counter : NULL;
	return *c != NULL ? cpuc_perf_opened((*c)->events)
			  : read == instructions_none;
}
