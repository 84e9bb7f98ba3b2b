/* SPDX-License-Identifier: 0BSD */
/* A thread that counts on a pretended kernel with perf events, on a CPU of
 * several types of cores. */
#ifndef PRETENDED_CORES_H
#define PRETENDED_CORES_H

#include "pretended_perf.h"

/* The event of a type of cores that the thread has; NULL: it has none. */
static struct event *event_in(const struct cpuc_perf_thread *t, unsigned i)
{
	const struct cpuc_perf_event *e = &t->event[i];

	if (e->page == NULL)
		return e->id != 0 ? described[e->fd] : NULL;
	return event_of((const void *)(uintptr_t)e->page);
}

/* The thread is on a core of this type. */
static void on_core(unsigned type)
{
	struct event *e;

	k.here = 1u << type;
	for (e = world; e < world + k.made; e++) {
		uint32_t was = e->index;

		/* The kernel does not touch the pages of other types. */
		e->index = k.here >> e->type & 1 && (e->open || e->mapped)
				   ? register_for(e)
				   : 0;
		if (was != 0 || e->index != 0)
			publish(e);
	}
}

static unsigned core, core_types;

static void on_types(struct cpuc_event_set *set)
{
	unsigned i;

	for (i = 0; i < core_types; i++)
		set->event[i].config = (uint64_t)i << 32 | set->counts;
	set->n = core_types;
	set->opened = 1 + (CPUC_NO_KERNEL | CPUC_NO_HV);
}

/* A fresh thread on a CPU with so many types of cores. */
static void fresh_cores(unsigned types)
{
	fresh();
	core_types = types;
	core = 0;
	if (types > 1) {
		k.here = 1;
		on_types(&one);
		on_types(&retired);
	}
}

/* And with an open counter. */
static void begin_cores(unsigned types)
{
	fresh_cores(types);
	open_counter(&one);
}

/* An event, to which something happens. */
static struct event *victim;

/* It is on another register, or on one again. */
static void move_register(void)
{
	run(1000003);
	victim->index = victim->index == 7 ? 32 : 7;
	victim->start += 0x123456789;
	publish(victim);
}

static void take_away(void)
{
	run(77);
	victim->index = 0;
	publish(victim);
}

#endif
