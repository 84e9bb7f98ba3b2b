/* SPDX-License-Identifier: 0BSD */
/* The share of the time that a calibrated counter takes for itself: for looks
 * at the thread's clock and at the core's rate, and for measurements. In a
 * thread that counts all the time, and in the first 2 ms after it has slept for
 * 50 ms. */
#include <config.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "calibrated/count.h"
#include "cpucycles.h"
#include "tools/common/known.h"
#include "tools/common/rate_steps.h"

#define TABLE "share"
#define CYCLES 12000
#define RUN_NS 2000000000LL
#define AWAKE_NS 2000000LL
#define NAPS 40
#define MOST 400000
#define LONG 100 /* times the median: the thread did not run in this one */

/* Durations of the slow path, in ticks of the bare clock. */
static long long took[MOST];
static int calls;

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
static long long run(long long ns, struct rate_steps *steps)
{
	const long long grain = rate_steps_grain(bench_bare);
	long long begin = bench_bare(), end = bench_ns() + ns, now, t;

	while ((now = bench_ns()) < end) {
		t = -bench_bare();
		known->loop(CYCLES / known->turn);
		t += bench_bare();
		rate_steps_add(steps, now, t, grain);
		cpucycles();
	}
	return bench_bare() - begin;
}

static void print(const char *row, long long ticks, double seconds)
{
	long long sum = 0;
	int i;

	if (calls == 0)
		return;
	stats_sort(took, calls);
	for (i = 0; i < calls; i++)
		if (took[i] <= LONG * took[calls / 2])
			sum += took[i];
		else
			ticks -= took[i];
	bench_value(TABLE, row, "% of the time", "%.2f",
		    (double)sum * 100 / (double)ticks);
	bench_value(TABLE, row, "slow calls a second", "%.0f", calls / seconds);
	bench_value(TABLE, row, "ticks each", "%lld", took[calls / 2]);
}

int main(void)
{
	const char *running = "counts all the time";
	const int quick = getenv("BENCH_QUICK") ? 10 : 1;
	static struct rate_steps steps;
	long long ticks;
	int i;

	cpucycles();
	if (!known_usable() || strcmp(cpucycles_kind(), "calibrated") != 0)
		bench_skip("no calibrated counter is selected");
	run(RUN_NS / 20, &steps);
	memset(&steps, 0, sizeof steps);
	calls = 0;
	ticks = run(RUN_NS / quick, &steps);
	print(running, ticks, (double)RUN_NS / quick / 1e9);
	bench_value(TABLE, running, "steps a second", "%.1f",
		    rate_steps_sum(&steps).persecond);
	calls = 0;
	for (ticks = 0, i = 0; i < NAPS / quick; i++) {
		usleep(50000);
		ticks += run(AWAKE_NS, &steps);
	}
	print("the first 2 ms after a sleep of 50 ms", ticks,
	      (double)AWAKE_NS * (NAPS / quick) / 1e9);
	return 0;
}
