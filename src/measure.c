/* SPDX-License-Identifier: 0BSD */
/* How finely a composed reader counts, and whether it counts at all. */
#include <config.h>
#include <errno.h>
#include "engine.h"

#define CALLS 1000
#define ROUNDS 10

struct round {
	long long step; /* smallest nonzero difference; 0: never advanced */
	bool back;	/* it went back at least once */
};

static inline long long call(const struct cpuc_slot *slot)
{
	return slot->of ? slot->of(slot) : slot->entry();
}

static struct round one_round(const struct cpuc_slot *slot)
{
	struct round r = {0, false};
	long long last = call(slot), now, step;
	int i;

	for (i = 1; i < CALLS; i++) {
		now = call(slot);
		/* Modulo 2^64, so that no pair of counts overflows. */
		step = (long long)((unsigned long long)now -
				   (unsigned long long)last);
		last = now;
		if (step < 0)
			r.back = true;
		else if (step > 0 && (r.step == 0 || step < r.step))
			r.step = step;
	}
	return r;
}

/* Raw counts, as many as all rounds would take: they need no clock. Extended
 * to 64 bits, a count that stands still would jump when the clock comes to be
 * half a wrap ahead of it, and pass for one that advances. */
static bool stands_still(const struct cpuc_counter *c)
{
	long long first = c->read();
	int i;

	for (i = 0; i < CALLS * ROUNDS; i++)
		if (c->read() != first)
			return false;
	return true;
}

int cpuc_measure(struct cpuc_slot *slot, long long *step)
{
	struct round r = {0, false};
	int i;

	if (slot->counter->bits == 32 && stands_still(slot->counter)) {
		cpuc_reason(slot, "the count does not advance");
		return -ENOTSUP;
	}
	/* One bad round may be a migration between cores whose counters
	 * differ; ten are the counter's fault. */
	for (i = 0; i < ROUNDS; i++) {
		r = one_round(slot);
		if (r.step > 0 && !r.back) {
			*step = r.step;
			return 0;
		}
	}
	cpuc_reason(slot, r.back ? "the count goes backwards"
				 : "the count does not advance");
	return -ENOTSUP;
}
