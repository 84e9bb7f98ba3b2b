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

/* Internally a reason holds its hint, behind the first "; ". */
static void split(const char *text, struct cpucycles_counter *out)
{
	const char *hint = strstr(text, "; ");
	size_t n = hint ? (size_t)(hint - text) : strlen(text);

	memcpy(out->reason, text, n);
	if (hint)
		strcpy(out->hint, hint + 2);
}

static void describe(const struct cpuc_slot *slot,
		     struct cpucycles_counter *out)
{
	const struct cpuc_counter *c = slot->counter;

	out->name = c->name;
	out->kind = cpuc_kind_name(c->kind);
	out->kind_id = cpuc_kind_id(c->kind);
	out->bits = c->bits;
	out->per_thread = c->per_thread;
	out->usable = slot->usable;
	if (!slot->usable)
		split(slot->reason, out);
	else if (c->kind != CPUC_ZERO) {
		out->precision = slot->precision;
		out->step = slot->precision - cpuc_kind_added(c->kind);
		out->scaling = scaling(slot);
	}
}

static int examine(struct cpuc_slot *slot, struct cpucycles_counter *out,
		   size_t size)
{
	struct cpucycles_counter c;
	struct cpuc_guard guard;

	if (cpuc_lock(&guard) != 0) {
		errno = EDEADLK;
		return -1;
	}
	memset(&c, 0, sizeof c);
	cpuc_examine(slot);
	describe(slot, &c);
	cpuc_unlock(&guard);
	memset(out, 0, size);
	memcpy(out, &c, size < sizeof c ? size : sizeof c);
	return 0;
}

int cpucycles_counter(unsigned index, struct cpucycles_counter *out,
		      size_t size)
{
	if (out == NULL || index >= cpuc_slot_count) {
		errno = EINVAL;
		return -1;
	}
	cpuc_selected();
	return examine(&cpuc_slots[index], out, size);
}

int cpucycles_counterbyname(const char *name, struct cpucycles_counter *out,
			    size_t size)
{
	size_t i = 0;

	if (out == NULL) {
		errno = EINVAL;
		return -1;
	}
	if (name == NULL)
		name = cpucycles_implementation();
	while (i < cpuc_slot_count && strcmp(cpuc_slots[i].counter->name, name))
		i++;
	if (i == cpuc_slot_count) {
		errno = ENOENT;
		return -1;
	}
	cpuc_selected();
	return examine(&cpuc_slots[i], out, size);
}
