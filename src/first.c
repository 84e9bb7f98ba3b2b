/* SPDX-License-Identifier: 0BSD */
/* The first call, and every later choice of a counter.
 *
 * cpucycles starts as cpuc_first. The thread that comes first selects under
 * the lock, the others wait there; then the selected slot is published, and
 * after it its entry, each with release order. What a reader finds that runs
 * before both are visible to it is told in compose.c. No later call takes a
 * lock. */
#include <config.h>
#include <errno.h>
#include <string.h>
#include "calibrate.h"
#include "clock.h"
#include "cpucycles.h"
#include "engine.h"
#include "lock.h"
#include "probe.h"

long long (*cpucycles)(void) = cpuc_first;

static int traced; /* a trace was asked for and not yet printed */

void cpucycles_tracesetup(void)
{
	__atomic_store_n(&traced, 1, __ATOMIC_RELAXED);
}

/* Callers load cpucycles plainly: so the interface has it. A pointer is loaded
 * and stored whole on every CPU, and compose.c copes with the order, so there
 * is nothing here that a race detector should see. */
__attribute__((no_sanitize("thread"))) static void
publish(const struct cpuc_slot *slot)
{
	__atomic_store_n(&cpuc_current, slot, __ATOMIC_RELEASE);
	__atomic_store_n(&cpucycles, slot->entry, __ATOMIC_RELEASE);
}

unsigned cpuc_selection;

static struct cpuc_world begin(void)
{
	struct cpuc_world world = {.now_ns = cpuc_clock_ns};

	cpuc_selection++;
	cpuc_probe_begin();
	cpuc_clock_check();
	world.persecond = cpuc_persecond();
	return world;
}

static void choose(void)
{
	struct cpuc_world world = begin();
	struct cpuc_slot *slot =
		cpuc_select(cpuc_slots, cpuc_slot_count,
			    cpuc_getenv("cpucyclesimplementation"), &world);

	if (slot == NULL)
		slot = cpuc_last_resort(cpuc_slots, cpuc_slot_count, &world);
	publish(slot);
	cpuc_probe_end();
}

static int choose_named(const char *name)
{
	struct cpuc_slot *slot = NULL;
	struct cpuc_world world;
	size_t i;

	for (i = 0; i < cpuc_slot_count; i++)
		if (!strcmp(cpuc_slots[i].counter->name, name))
			slot = &cpuc_slots[i];
	if (slot == NULL)
		return ENOENT;
	world = begin();
	cpuc_try(slot, &world);
	if (!slot->usable && slot->counter->close)
		slot->counter->close(slot);
	cpuc_probe_end();
	if (!slot->usable)
		return ENOTSUP;
	publish(slot);
	return 0;
}

/* A counter that could not win was not tried. Who asks about it gets what the
 * selection would have found. */
void cpuc_examine(struct cpuc_slot *slot)
{
	struct cpuc_world world;

	if (slot->tried)
		return;
	world = begin();
	cpuc_try(slot, &world);
	if (slot->counter->close)
		slot->counter->close(slot);
	cpuc_probe_end();
}

/* Whether a selection has been made, and published whole: a fork copies memory
 * a page at a time while other threads go on, so that a child may have the one
 * half of what another thread published meanwhile, and not the other. */
static bool selected(void)
{
	return cpuc_current->counter != NULL && cpuc_current->settled &&
	       __atomic_load_n(&cpucycles, __ATOMIC_RELAXED) ==
		       cpuc_current->entry &&
	       (cpuc_current->counter->chains == NULL ||
		cpuc_ruler.ops != NULL);
}

long long cpuc_first(void)
{
	struct cpuc_guard guard;

	/* In a handler in the midst of the selection, of a fault or of SIGSYS,
	 * a count that advances is all that can be had. */
	if (cpuc_lock(&guard) != 0)
		return (long long)cpuc_clock_ns();
	if (!selected())
		choose();
	cpuc_unlock(&guard);
	if (__atomic_exchange_n(&traced, 0, __ATOMIC_RELAXED))
		cpuc_trace();
	return __atomic_load_n(&cpucycles, __ATOMIC_ACQUIRE)();
}

const struct cpuc_slot *cpuc_selected(void)
{
	const struct cpuc_slot *slot =
		__atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE);

	if (slot->counter == NULL) {
		cpuc_first();
		slot = __atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE);
	}
	return slot->counter ? slot : &cpuc_slots[cpuc_slot_count - 1];
}

int cpucycles_select(const char *name)
{
	struct cpuc_guard guard;
	int err = 0;

	if (cpuc_lock(&guard) != 0) {
		errno = EDEADLK;
		return -1;
	}
	if (name == NULL)
		choose();
	else
		err = choose_named(name);
	cpuc_unlock(&guard);
	if (err) {
		errno = err;
		return -1;
	}
	if (__atomic_exchange_n(&traced, 0, __ATOMIC_RELAXED))
		cpuc_trace();
	return 0;
}
