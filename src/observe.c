/* SPDX-License-Identifier: 0BSD */
/* The rate of the core that this thread is running on, now. */
#include <config.h>
#include "calibrated/calibration.h"
#include "system/os_clock.h"
#include "observe.h"
#include "system/probe.h"
#include "select.h"

/* The highest of so many rates: a neighbour slows chains down, and a thread's
 * count stands still while another thread has the core. */
#define TRIES 5
#define BUSY_NS 200000 /* to compare a core counter over */

/* By a core counter, against the system's clock. */
static uint64_t observe_by_counter(const struct cpuc_slot *slot)
{
	uint64_t ns = cpuc_os_clock_ns(), now, reads = 0, hz;
	long long count = cpuc_slot_read(slot);

	do
		now = cpuc_os_clock_ns();
	while (now - ns < BUSY_NS && reads++ < BUSY_NS);
	count = cpuc_slot_read(slot) - count;
	if (now <= ns || count <= 0 || (uint64_t)count > CPUC_CORE_HZ_MAX)
		return 0;
	hz = (uint64_t)count * 1000000000 / (now - ns);
	return hz >= CPUC_CORE_HZ_MIN && hz <= CPUC_CORE_HZ_MAX ? hz : 0;
}

/* Calibrates, whatever counter is selected, and leaves the slot's description
 * as the selection found it. */
static void observe_calibrate(struct cpuc_slot *slot)
{
	/* Chains need no nominal rate. */
	const struct cpuc_world world = {NULL, cpuc_os_clock_ns};
	struct cpuc_slot as_found = *slot;

	cpuc_try(slot, &world);
	as_found.entry = slot->entry;
	as_found.of = slot->of;
	as_found.scale = slot->scale;
	as_found.rate = slot->rate;
	as_found.settled = slot->settled;
	as_found.failed = slot->failed;
	*slot = as_found;
}

struct observation {
	struct cpuc_slot *slots;
	size_t n;
	const struct cpuc_slot *current;
	uint64_t hz;
};

static void observe(void *arg)
{
	struct observation *o = arg;
	bool by_chains;
	uint64_t hz;
	size_t i;

	/* One that failed is left to the next selection. */
	for (i = 0; i < o->n && !cpuc_calibration_done(); i++)
		if (o->slots[i].counter->chains != NULL && !o->slots[i].failed)
			observe_calibrate(&o->slots[i]);
	by_chains = cpuc_calibration_done();
	if (!by_chains && (o->current->counter == NULL ||
			   o->current->counter->kind > CPUC_CORE_KERNEL))
		return;
	for (i = 0; i < TRIES; i++) {
		hz = by_chains ? cpuc_calibration_hz()
			       : observe_by_counter(o->current);
		o->hz = hz > o->hz ? hz : o->hz;
	}
}

uint64_t cpuc_observe(struct cpuc_slot *slots, size_t n,
		      const struct cpuc_slot *current)
{
	struct observation o = {slots, n, current, 0};

	/* A counter that worked when it was selected may be forbidden by now.
	 */
	return cpuc_probe(observe, &o) == 0 ? o.hz : 0;
}
