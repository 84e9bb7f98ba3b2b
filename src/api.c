/* SPDX-License-Identifier: 0BSD */
/* What the library tells about itself and its counters. */
#include <config.h>
#include <errno.h>
#include <string.h>
#include "calibrate.h"
#include "cpucycles.h"
#include "engine.h"
#include "lock.h"

const char *cpucycles_version(void)
{
	return PACKAGE_VERSION;
}

const char *cpucycles_implementation(void)
{
	return cpuc_selected()->counter->name;
}

const char *cpucycles_kind(void)
{
	return cpuc_kind_name(cpuc_selected()->counter->kind);
}

/* Cycles per tick: of a calibrated counter as first measured, since each
 * thread has a ratio of its own afterwards. */
static double scaling(const struct cpuc_slot *slot)
{
	if (slot->counter->chains != NULL)
		return (double)cpuc_ruler.ratio / 4294967296.0;
	return cpuc_scale_ratio(&slot->scale);
}

static void describe(const struct cpuc_slot *slot,
		     struct cpucycles_counter *out)
{
	out->name = slot->counter->name;
	out->kind = cpuc_kind_name(slot->counter->kind);
	out->bits = slot->counter->bits;
	out->usable = slot->usable;
	if (!slot->usable)
		memcpy(out->reason, slot->reason, sizeof slot->reason);
	else if (slot->counter->kind != CPUC_ZERO) {
		out->precision = slot->precision;
		out->scaling = scaling(slot);
	}
}

int cpucycles_counter(unsigned index, struct cpucycles_counter *out,
		      size_t size)
{
	struct cpucycles_counter c;
	struct cpuc_guard guard;

	if (out == NULL || index >= cpuc_slot_count) {
		errno = EINVAL;
		return -1;
	}
	cpuc_selected();
	if (cpuc_lock(&guard) != 0) {
		errno = EDEADLK;
		return -1;
	}
	memset(&c, 0, sizeof c);
	cpuc_examine(&cpuc_slots[index]);
	describe(&cpuc_slots[index], &c);
	cpuc_unlock(&guard);
	memset(out, 0, size);
	memcpy(out, &c, size < sizeof c ? size : sizeof c);
	return 0;
}
