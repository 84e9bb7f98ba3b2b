/* SPDX-License-Identifier: 0BSD */
/* Counters: their kinds, the reasons why they are not usable, and the reads
 * that callers make of them.
 *
 * A read is the raw count, extended and scaled as needed. Each such shape
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

static const struct {
	const char *name;
	enum cpucycles_kind_id id;
	long long added; /* cycles */
} slot_kinds[] = {
	/* True. */
	[CPUC_CORE] = {"core", CPUCYCLES_CORE, 0},
	/* As true; 100 for the cache lines and the branch history that the
	 * kernel's code takes from the code being timed. */
	[CPUC_CORE_KERNEL] = {"core", CPUCYCLES_CORE, 100},
	/* Core cycles as long as the core's rate stays as it was measured. */
	[CPUC_CALIBRATED] = {"calibrated", CPUCYCLES_CALIBRATED, 50},
	/* Fine steps of a clock that runs on while the core's rate changes:
	 * wrong by the ratio of the two. */
	[CPUC_REFERENCE] = {"reference", CPUCYCLES_REFERENCE, 100},
	/* The same, adjusted by time synchronisation, and coarse. */
	[CPUC_OS] = {"os", CPUCYCLES_OS, 200},
	/* Chosen last, whatever it measures: select.c. */
	[CPUC_ZERO] = {"zero", CPUCYCLES_ZERO, 0},
};

const char *cpuc_kind_name(enum cpuc_kind kind)
{
	return slot_kinds[kind].name;
}

enum cpucycles_kind_id cpuc_kind_id(enum cpuc_kind kind)
{
	return slot_kinds[kind].id;
}

long long cpuc_kind_added(enum cpuc_kind kind)
{
	return slot_kinds[kind].added;
}

long long cpuc_precision(const struct cpuc_slot *slot)
{
	return slot->usable ? slot->step + cpuc_kind_added(slot->counter->kind)
			    : 0;
}

void cpuc_reason(struct cpuc_slot *slot, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(slot->reason, sizeof slot->reason, fmt, ap);
	va_end(ap);
	slot->hint[0] = '\0';
}

void cpuc_hint(struct cpuc_slot *slot, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(slot->hint, sizeof slot->hint, fmt, ap);
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
		if (__builtin_expect(s->entry != name, 0))                \
			return cpuc_first();                              \
		return name##_of(s);                                      \
	}

#define EXTENDED cpuc_extend32(&s->anchor, s->counter->read)

SHAPE(slot_scaled, cpuc_scale_apply(&s->scale, (uint64_t)s->counter->read()))
SHAPE(slot_extended, EXTENDED)
SHAPE(slot_extended_scaled, cpuc_scale_apply(&s->scale, EXTENDED))

void cpuc_compose(struct cpuc_slot *slot)
{
	static const struct {
		long long (*entry)(void);
		long long (*of)(const struct cpuc_slot *);
	} shapes[2][2] = {
		/* The raw reader serves as it is: nothing is faster. */
		{{NULL, NULL}, {slot_scaled, slot_scaled_of}},
		{{slot_extended, slot_extended_of},
		 {slot_extended_scaled, slot_extended_scaled_of}},
	};
	int wide = slot->counter->bits == 32, ratio = slot->scale.mult != 0;

	slot->entry = shapes[wide][ratio].entry;
	slot->of = shapes[wide][ratio].of;
	if (slot->entry == NULL)
		slot->entry = slot->counter->read;
}
