/* SPDX-License-Identifier: 0BSD */
/* The calibrated counter of this machine, if it has one: no measurement is in a
 * count, and the core's rate is known. */
#include "faults/faults.h"

#include <stdbool.h>
#include "calibrated/count.h"
#include "rate/clock.h"
#include "registry.h"
#include "system/os_clock.h"
#include "forget.h"

#define LEAKS 4000

static int compare(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

/* The mean of the middle half: a median would be a step of the clock. */
static double middle(long long *v)
{
	long long sum = 0;
	int i;

	qsort(v, LEAKS, sizeof *v, compare);
	for (i = LEAKS / 4; i < LEAKS * 3 / 4; i++)
		sum += v[i];
	return (double)sum / (LEAKS / 2);
}

/* A detour as long as a call that measures, without a measurement: what it
 * costs is the host's, such as branches that it must learn anew. */
static __attribute__((noinline)) long long detour(void)
{
	struct cpuc_guard guard;
	uint64_t stamp[3];
	int i;

	cpuc_guard_enter(&guard);
	cpuc_os_clock_thread(cpuc_calibration.hz);
	for (i = 0; i < 3; i++)
		cpuc_calibration.chain->window(cpuc_calibration.turns, stamp);
	cpuc_guard_leave(&guard);
	return cpucycles();
}

/* A call that measures takes microseconds, which are in nobody's count: an
 * interval across it is as long as any, and so is the next one, but for what it
 * is after any such detour. */
static bool leaks(double *most, double *limit)
{
	static long long usual[LEAKS], across[LEAKS], after[LEAKS],
		detoured[LEAKS];
	long long a, b;
	double u, m, n, d;
	int i;

	for (i = 0; i < LEAKS; i++) {
		cpucycles();
		a = cpucycles();
		b = cpucycles();
		usual[i] = b - a;
		a = detour();
		detoured[i] = cpucycles() - a;
		a = cpucycles();
		calibrated_expire();
		b = cpucycles();
		across[i] = b - a;
		after[i] = cpucycles() - b;
	}
	u = middle(usual);
	d = middle(detoured);
	m = middle(across);
	n = middle(after);
	/* A leak would be of system calls and windows: as long as hundreds of
	 * calls. */
	*limit = 2 * (d > u ? d : u);
	*most = m > n ? m : n;
	return *most > *limit;
}

/* Steps of the clock may fall badly; a leak is there every time. */
static void check_leaks(void)
{
	double most, limit;
	int i;

	for (i = 0; i < 10 && leaks(&most, &limit); i++)
		;
	if (SANITIZED)
		skip("sanitizers lengthen what surrounds a measurement");
	else
		ok(bounded(0, most, limit, "cycles, as of a measurement"),
		   "a measurement is in nobody's count");
}

static void check_rate(void)
{
	struct cpucycles_counter c, raw;
	long long hz = cpucycles_observepersecond();
	unsigned i;

	ok(bounded(1e8, (double)hz, 1e10,
		   "no core has this rate: a clock or a chain is misread"),
	   "the core's rate is %lld Hz", hz);
	memset(&raw, 0, sizeof raw);
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && !strcmp(c.kind, "reference"))
			raw = c;
	ok(raw.name != NULL && cpucycles_select(raw.name) == 0,
	   "the clock below it can be asked for: %s",
	   raw.name ? raw.name : "none");
	ok(cpucycles_observepersecond() > 0,
	   "and the core's rate is known all the same");
}

/* As on a weakly ordered CPU, which shows a thread the new value of `cpucycles`
 * before the calibration. */
static int reads_first(void)
{
	size_t i;

	for (i = 0; i < cpuc_slot_count; i++)
		if (cpuc_slots[i].counter->kind == CPUC_CALIBRATED)
			return cpuc_slots[i].counter->read() <= 0;
	return CANNOT;
}

int main(void)
{
	point("a thread that lacks the calibration makes it", reads_first,
	      "no counter here is calibrated");
	if (strcmp(cpucycles_kind(), "calibrated") != 0) {
		skip("%s is not calibrated", cpucycles_implementation());
		return done_testing();
	}
	check_leaks();
	check_rate();
	return done_testing();
}
