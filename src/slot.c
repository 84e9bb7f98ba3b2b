/* SPDX-License-Identifier: 0BSD */
/* Counters: their kinds, reasons and readers. A thread may run slot_scaled()
 * before it sees the new cpuc_current (slot.h), so this checks what it has. */
#include <config.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include "slot.h"

const struct cpuc_kind_row cpuc_kinds[] = {
	[CPUC_CORE] = {"core", CPUCYCLES_CORE, 0},
	/* The kernel evicts the timed code's cache lines. */
	[CPUC_CORE_KERNEL] = {"core", CPUCYCLES_CORE, 100},
	[CPUC_CALIBRATED] = {"calibrated", CPUCYCLES_CALIBRATED, 50},
	[CPUC_REFERENCE] = {"reference", CPUCYCLES_REFERENCE, 100},
	[CPUC_OS] = {"os", CPUCYCLES_OS, 200}, /* adjusted, and coarse */
	[CPUC_ZERO] = {"zero", CPUCYCLES_ZERO, LLONG_MAX / 2},
};

long long cpuc_precision(const struct cpuc_slot *slot)
{
	return slot->trial.usable
		       ? slot->trial.step +
				 cpuc_kinds[slot->counter->kind].added
		       : 0;
}

int cpuc_reason(struct cpuc_slot *slot, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(slot->trial.reason, sizeof slot->trial.reason, fmt, ap);
	va_end(ap);
	return -ENOTSUP;
}

static const struct cpuc_counter slot_no_counter;
static struct cpuc_slot slot_none = {.counter = &slot_no_counter};

const struct cpuc_slot *cpuc_current = &slot_none;

static long long slot_scaled(void)
{
	const struct cpuc_slot *slot =
		__atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE);

	if (__builtin_expect(slot->reader.entry != slot_scaled, 0))
		return cpuc_first();
	return cpuc_slot_read(slot);
}

void cpuc_compose(struct cpuc_slot *slot)
{
	/* Without a scale nothing is faster than the raw reader. */
	slot->reader.entry = slot->reader.scale.mult != 0 ? slot_scaled
							  : slot->counter->read;
}
