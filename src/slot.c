/* SPDX-License-Identifier: 0BSD */
/* Counters: their kinds, why they are not usable, and how callers read them.
 *
 * `cpucycles` is the raw reader or slot_scaled(). A thread may run this before
 * it sees the new cpuc_current (first_call.h), so it checks that the slot, all
 * of which the acquiring load makes visible, is one to scale. Then it is or was
 * the current one, and this call may return either's count. */
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
	/* As true, but the kernel evicts the timed code's cache lines. */
	[CPUC_CORE_KERNEL] = {"core", CPUCYCLES_CORE, 100},
	/* Core cycles as long as the core's rate stays as it was measured. */
	[CPUC_CALIBRATED] = {"calibrated", CPUCYCLES_CALIBRATED, 50},
	/* A fine clock, off by the ratio of its rate and the core's. */
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
	/* Without a scale nothing is faster than the raw reader. */
	slot->reader.entry = slot->reader.scale.mult != 0 ? slot_scaled
							  : slot->counter->read;
}
