/* SPDX-License-Identifier: 0BSD */
/* The core's rate, now. */
#include <config.h>
#include <string.h>
#include "calibrate.h"
#include "clock.h"
#include "cpucycles.h"
#include "engine.h"
#include "lock.h"
#include "probe.h"

#define TRIES 5         /* some of which may be interrupted */
#define BUSY_NS 200000	/* what a core counter is compared over */
#define RATE_MAX UINT64_C(10000000000)

static uint64_t by_chains(void)
{
	uint64_t ratio = 0;
	int i;

	for (i = 0; i < TRIES && ratio == 0; i++)
		ratio = cpuc_windows(&cpuc_ruler, CPUC_WINDOWS_MAX);
	return cpuc_core_rate(&cpuc_ruler, ratio);
}

static uint64_t one_rate(void)
{
	uint64_t ns = cpuc_clock_ns(), now, reads = 0;
	long long count = cpucycles();

	do
		now = cpuc_clock_ns();
	while (now - ns < BUSY_NS && reads++ < BUSY_NS);
	count = cpucycles() - count;
	if (now <= ns || count <= 0 || (uint64_t)count > RATE_MAX)
		return 0;
	return (uint64_t)count * 1000000000 / (now - ns);
}

/* The selected core counter against the system's clock: the highest of several
 * rates, since what counts a thread's cycles alone counts none while another
 * thread has the core. */
static uint64_t by_counter(void)
{
	uint64_t hz, best = 0;
	int i;

	for (i = 0; i < TRIES; i++) {
		hz = one_rate();
		if (hz > best)
			best = hz;
	}
	return best >= 100000000 && best <= RATE_MAX ? best : 0;
}

/* Calibrates, whatever counter is selected, and leaves what is told of the
 * slot as the selection found it. */
static void try_chains(struct cpuc_slot *slot)
{
	const struct cpuc_world world = {1, cpuc_clock_ns};
	struct cpuc_slot as_found = *slot;

	cpuc_try(slot, &world);
	slot->tried = as_found.tried;
	slot->usable = as_found.usable;
	slot->precision = as_found.precision;
	memcpy(slot->reason, as_found.reason, sizeof slot->reason);
}

/* A calibrated counter that works here, selected or not. One that failed is
 * tried again by the next selection. */
static bool have_chains(void)
{
	size_t i;

	for (i = 0; i < cpuc_slot_count && cpuc_ruler.ops == NULL; i++)
		if (cpuc_slots[i].counter->chains != NULL &&
		    !cpuc_slots[i].failed)
			try_chains(&cpuc_slots[i]);
	return cpuc_ruler.ops != NULL;
}

static void observe(void *hz)
{
	const struct cpuc_slot *slot = cpuc_current;

	if (have_chains())
		*(uint64_t *)hz = by_chains();
	else if (slot->counter != NULL &&
		 slot->counter->kind <= CPUC_CORE_KERNEL)
		*(uint64_t *)hz = by_counter();
}

/* What worked when it was chosen may have been forbidden since. */
uint64_t cpuc_observe(void)
{
	uint64_t hz = 0;

	return cpuc_probe(observe, &hz) == 0 ? hz : 0;
}

long long cpucycles_observepersecond(void)
{
	struct cpuc_guard guard;
	uint64_t hz;

	cpuc_selected();
	if (cpuc_lock(&guard) != 0)
		return 0;
	cpuc_probe_begin();
	hz = cpuc_observe();
	cpuc_probe_end();
	cpuc_unlock(&guard);
	return (long long)hz;
}
