/* SPDX-License-Identifier: 0BSD */
/* Counters: their kinds, the reasons why they are not usable, and the reads
 * that callers make of them.
 *
 * A read is the raw count, or scaled by the entry below, which reads the
 * current slot. It may run in a thread that does not see the new cpuc_current
 * yet (first_call.h), so it makes sure that the slot, which the acquiring load
 * makes visible as a whole, is one to scale. That slot is then current or was a
 * moment ago; both give counts that this call may return. */
#include <config.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include "first_call.h"
#include "slot.h"

const struct cpuc_kind_row cpuc_kinds[] = {
	/* True. */
	[CPUC_CORE] = {"core", CPUCYCLES_CORE, 0},
	/* As true; 100 for the cache lines and the branch history that the
	 * kernel takes from the timed code. */
	[CPUC_CORE_KERNEL] = {"core", CPUCYCLES_CORE, 100},
	/* Core cycles as long as the core's rate stays as it was measured. */
	[CPUC_CALIBRATED] = {"calibrated", CPUCYCLES_CALIBRATED, 50},
	/* Fine steps of a clock that runs on while the core's rate changes:
	 * wrong by the ratio of the two. */
	[CPUC_REFERENCE] = {"reference", CPUCYCLES_REFERENCE, 100},
	/* The same, adjusted by time synchronisation, and coarse. */
	[CPUC_OS] = {"os", CPUCYCLES_OS, 200},
	/* Chosen last. */
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

static struct cpuc_slot slot_none;

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
	/* The raw reader serves as it is: nothing is faster. */
	slot->reader.entry = slot->reader.scale.mult != 0 ? slot_scaled
							  : slot->counter->read;
}
