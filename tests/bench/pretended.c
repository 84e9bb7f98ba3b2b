/* SPDX-License-Identifier: 0BSD */
/* The library's paths to counters that this machine lacks, with the clock that
 * it has in their place. */
#include <config.h>
#include "../../src/calibrated/count.h"
#include "../../src/slot.h"
#include "../../src/system/thread.h"
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "../../src/perf/read.h"
#endif
#include "bench.h"
#include "pretended.h"

static long long clock_read(void)
{
	return bench_bare();
}

long long (*pretended_composed(unsigned bits, unsigned ratio))(void)
{
	static struct cpuc_counter counter = {.read = clock_read};
	static struct cpuc_slot slot = {.counter = &counter};

	/* For the anchors of 32-bit counts. */
	cpuc_thread_prepare();
	counter.bits = bits;
	slot.reader.scale = cpuc_scale_of(ratio, 1);
	cpuc_compose(&slot);
	cpuc_current = &slot;
	return slot.reader.entry;
}

void pretended_hold(void)
{
	if (cpuc_own_count.due != 0)
		cpuc_own_count.due = UINT32_MAX;
}

#if HAVE_COUNTER_DEFAULT_PERFEVENT
#define REGISTER 1u

static uint64_t pretended_register(uint32_t index)
{
	/* Any value will do, but the operand must be computed as for RDPMC. */
	__asm__ __volatile__("" : : "r"(index - 1));
	return (uint64_t)bench_bare();
}

static long long perf(void)
{
	static struct cpuc_event_set pmu;

	return cpuc_perf_count(&pmu, pretended_register, REGISTER);
}

long long (*pretended_perf(void))(void)
{
	static struct perf_event_mmap_page page = {.index = REGISTER,
						   .pmc_width = 48};
	static const uint32_t quick = 1;
	static struct cpuc_perf_thread state = {.quick = &quick,
						.event = {{.page = &page}}};

	page.cap_user_rdpmc = 1;
	cpuc_perf_own = &state;
	return perf;
}
#else
long long (*pretended_perf(void))(void)
{
	return NULL;
}
#endif
