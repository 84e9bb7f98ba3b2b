/* SPDX-License-Identifier: 0BSD */
/* What a caller's read does: the raw count, extended and scaled as needed.
 *
 * Each shape exists twice: for a given slot, so that it can be measured before
 * it is chosen, and as an entry, which takes the slot that is current. A thread
 * on a weakly ordered CPU may call a new entry and still see an old
 * cpuc_current: nothing orders the load of cpucycles, made by the caller's own
 * code, before ours. So an entry first makes sure that the slot, which the
 * acquiring load makes visible as a whole, is one of its shape. The slot is then
 * right or was selected a moment ago; both are counts that this call may give.
 * Otherwise cpuc_first takes the lock, and sees what is true. */
#include <config.h>
#include "engine.h"

static struct cpuc_slot none;

const struct cpuc_slot *cpuc_current = &none;

#define SHAPE(name, expression)                                               \
	static long long name##_of(const struct cpuc_slot *s)                 \
	{                                                                     \
		return (long long)(expression);                               \
	}                                                                     \
	static long long name(void)                                           \
	{                                                                     \
		const struct cpuc_slot *s =                                   \
			__atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE);     \
                                                                              \
		if (__builtin_expect(s->entry != name, 0))                    \
			return cpuc_first();                                  \
		return name##_of(s);                                          \
	}

#define EXTENDED cpuc_extend32(&s->anchor, s->counter->read)

SHAPE(scaled, cpuc_scale_apply(&s->scale, (uint64_t)s->counter->read()))
SHAPE(extended, EXTENDED)
SHAPE(extended_scaled, cpuc_scale_apply(&s->scale, EXTENDED))

void cpuc_compose(struct cpuc_slot *slot)
{
	static const struct {
		long long (*entry)(void);
		long long (*of)(const struct cpuc_slot *);
	} shapes[2][2] = {
		/* The raw reader serves as it is: nothing is faster. */
		{{NULL, NULL}, {scaled, scaled_of}},
		{{extended, extended_of},
		 {extended_scaled, extended_scaled_of}},
	};
	int wide = slot->counter->bits == 32, ratio = slot->scale.mult != 0;

	slot->entry = shapes[wide][ratio].entry;
	slot->of = shapes[wide][ratio].of;
	if (slot->entry == NULL)
		slot->entry = slot->counter->read;
}
