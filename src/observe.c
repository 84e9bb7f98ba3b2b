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
#define BUSY_NS 1000000 /* what a core counter is compared over */

static uint64_t by_chains(void)
{
	uint64_t ratio = 0;
	int i;

	for (i = 0; i < TRIES && ratio == 0; i++)
		ratio = cpuc_windows(&cpuc_ruler, CPUC_WINDOWS_MAX);
	return cpuc_core_rate(&cpuc_ruler, ratio);
}

/* The selected core counter against the system's clock. The thread keeps its
 * core busy meanwhile, so what counts per thread counts all of the time. */
static uint64_t by_counter(void)
{
	uint64_t ns = cpuc_clock_ns(), now, reads = 0;
	long long count = cpucycles();

	do
		now = cpuc_clock_ns();
	while (now - ns < BUSY_NS && reads++ < BUSY_NS);
	count = cpucycles() - count;
	if (now <= ns || count <= 0)
		return 0;
	return (uint64_t)count * 1000000000 / (now - ns);
}

/* A calibrated counter that works here, selected or not. */
static bool have_chains(void)
{
	const struct cpuc_world world = {1, cpuc_clock_ns};
	size_t i;

	for (i = 0; i < cpuc_slot_count && cpuc_ruler.ops == NULL; i++)
		if (cpuc_slots[i].counter->chains != NULL)
			cpuc_try(&cpuc_slots[i], &world);
	return cpuc_ruler.ops != NULL;
}

uint64_t cpuc_observe(void)
{
	const struct cpuc_slot *slot = cpuc_current;

	if (have_chains())
		return by_chains();
	if (slot->counter != NULL && slot->counter->kind <= CPUC_CORE_KERNEL)
		return by_counter();
	return 0;
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
