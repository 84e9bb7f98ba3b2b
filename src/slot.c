/* SPDX-License-Identifier: 0BSD */
/* Counters: their kinds, the reasons why they are not usable, and the reads
 * that callers make of them.
 *
 * A read is the raw count, extended or scaled if need be. Each such shape
 * exists twice: for a given slot, so that it can be measured before it is
 * chosen, and as an entry for `cpucycles`, which reads the current slot. An
 * entry may run in a thread that does not see the new cpuc_current yet
 * (first_call.h), so it makes sure that the slot, which the acquiring load
 * makes visible as a whole, is one of its shape. That slot is then current or
 * was a moment ago; both give counts that this call may return. */
#include <config.h>
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
	/* Chosen last, even with the least precision: select.c. */
	[CPUC_ZERO] = {"zero", CPUCYCLES_ZERO, 0},
};

long long cpuc_precision(const struct cpuc_slot *slot)
{
	return slot->trial.usable
		       ? slot->trial.step +
				 cpuc_kinds[slot->counter->kind].added
		       : 0;
}

void cpuc_reason(struct cpuc_slot *slot, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(slot->trial.reason, sizeof slot->trial.reason, fmt, ap);
	va_end(ap);
	slot->trial.hint[0] = '\0';
}

void cpuc_hint(struct cpuc_slot *slot, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(slot->trial.hint, sizeof slot->trial.hint, fmt, ap);
	va_end(ap);
}

static struct cpuc_slot slot_none;

const struct cpuc_slot *cpuc_current = &slot_none;

#define SHAPE(name, expression)                                           \
	static long long name##_of(const struct cpuc_slot *s)             \
	{                                                                 \
		return (long long)(expression);                           \
	}                                                                 \
	static long long name(void)                                       \
	{                                                                 \
		const struct cpuc_slot *s =                               \
			__atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE); \
                                                                          \
		if (__builtin_expect(s->reader.entry != name, 0))         \
			return cpuc_first();                              \
		return name##_of(s);                                      \
	}

SHAPE(slot_scaled,
      cpuc_scale_apply(&s->reader.scale, (uint64_t)s->counter->read()))
SHAPE(slot_extended, cpuc_extend32(&s->reader.anchor, s->counter->read))

void cpuc_compose(struct cpuc_slot *slot)
{
	struct cpuc_reader *r = &slot->reader;

	/* The raw reader serves as it is: nothing is faster. */
	r->entry = slot->counter->read;
	if (slot->counter->bits == 32) {
		r->entry = slot_extended;
		r->of = slot_extended_of;
	} else if (r->scale.mult != 0) {
		r->entry = slot_scaled;
		r->of = slot_scaled_of;
	}
	r->made = true;
}
