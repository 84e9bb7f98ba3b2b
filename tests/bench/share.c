/* SPDX-License-Identifier: 0BSD */
/* The share of the time that a calibrated counter takes for itself: for looks
 * at the thread's clock and at the core's rate, and for measurements. In a
 * thread that counts all the time. */
#include <config.h>
#include <stdint.h>
#include "bench.h"
#include "calibrated/count.h"
#include "tools/common/known.h"
#include "tools/common/rate_steps.h"

#define TABLE "share"
#define CYCLES 12000
#define RUN_NS 2000000000LL
#define MOST 400000
#define LONG 100 /* times the median: the thread did not run in this one */

/* Durations of the slow path, in ticks of the bare clock. */
static long long took[MOST];
static int calls;

static struct rate_steps steps;

uint64_t __real_cpuc_count_slow(uintptr_t armed, uint64_t d);
uint64_t __wrap_cpuc_count_slow(uintptr_t armed, uint64_t d);

uint64_t __wrap_cpuc_count_slow(uintptr_t armed, uint64_t d)
{
	long long begin = bench_bare();
	uint64_t tick = cpuc_own_count.tick;
	uint64_t n = __real_cpuc_count_slow(armed, d);

	/* Unless the count goes on. */
	if (tick != cpuc_own_count.tick && calls < MOST)
		took[calls++] = bench_bare() - begin;
	return n;
}

/* Counts for so many ns, between chains of some cycles, and returns the ticks
 * that took. */
static long long run(long long ns)
{
	const long long grain = rate_steps_grain(bench_bare);
	long long begin = bench_bare(), end = bench_ns() + ns, now, t;

	while ((now = bench_ns()) < end) {
		t = -bench_bare();
		known->loop(CYCLES / known->turn);
		t += bench_bare();
		rate_steps_add(&steps, now, t, grain);
		cpucycles();
	}
	return bench_bare() - begin;
}

int main(void)
{
	const long long ns = RUN_NS / (getenv("BENCH_QUICK") ? 10 : 1);
	const char *name = cpucycles_implementation();
	long long ticks, sum = 0;
	int i;

	if (!known_usable() || strcmp(cpucycles_kind(), "calibrated") != 0)
		bench_skip("no calibrated counter is selected");
	run(RUN_NS / 20);
	memset(&steps, 0, sizeof steps);
	calls = 0;
	ticks = run(ns);
	stats_sort(took, calls);
	for (i = 0; i < calls; i++)
		if (took[i] <= LONG * took[calls / 2])
			sum += took[i];
		else
			ticks -= took[i];
	bench_value(TABLE, name, "% of the time", "%.2f",
		    (double)sum * 100 / (double)ticks);
	bench_value(TABLE, name, "slow calls a second", "%.0f",
		    calls * 1e9 / (double)ns);
	bench_value(TABLE, name, "ticks each", "%lld", took[calls / 2]);
	bench_value(TABLE, name, "steps a second", "%.1f",
		    rate_steps_sum(&steps).persecond);
	return 0;
}
