/* SPDX-License-Identifier: 0BSD */
/* The calibrated counter of this machine, if it has one: a thread may be the
 * first to read it, the core's rate is known, and interruptions are told, also
 * with others who use restartable sequences. Which events are, live_waits looks
 * at; what there is without such sequences, tests/amalgamation/fibre.c. */
#include "load.h"

#include "calibrated/calibration.h"
#include "rate/clock.h"
#include "registry.h"

static void check_rate(void)
{
	struct cpucycles_counter c;
	long long hz = cpucycles_observepersecond();
	unsigned i = 0, tries = 10;

	ok(bounded(1e8, (double)hz, 1e10,
		   "no core has this rate: a clock or a chain is misread"),
	   "the core's rate is %lld Hz", hz);
	while (cpucycles_counter(i++, &c, sizeof c) == 0)
		if (c.kind_id == CPUCYCLES_REFERENCE &&
		    cpucycles_select(c.name) == 0)
			break;
	ok(!strcmp(cpucycles_kind(), "reference"),
	   "the clock below it can be asked for: %s",
	   cpucycles_implementation());
	/* A host may be too busy for one. */
	do
		hz = cpucycles_observepersecond();
	while (hz == 0 && --tries > 0);
	ok(hz > 0, "and the core's rate is known all the same");
}

/* Whether none is told in one of many short times, and one for a wait. */
static bool told(void)
{
	long long before;
	int i = 0;

	do
		before = cpucycles_interruptions();
	while (cpucycles_interruptions() != before && ++i < 1000);
	usleep(1000);
	return i < 1000 && cpucycles_interruptions() > before;
}

static void check_interruptions(void)
{
	const char *name = cpucycles_implementation();

	ok(told(), "a wait is an interruption, a short time is none");
	cpucycles_select("default-monotonic");
	ok(told(), "with another counter, too");
	cpucycles_select(name);
}

static void check_sections(void)
{
#if HAVE_RSEQ
	long long before = cpucycles_interruptions();
	int i, bad = 0;

	for (i = 0; i < 400; i++) {
		load_section();
		if (i % 4 == 0)
			usleep(100);
		bad |= counts(10);
	}
	ok(!bad && cpucycles_interruptions() - before >= 400,
	   "critical sections of the program's own are interruptions");
#endif
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

/* Readings of a coarse clock are apart by few different numbers of ticks. */
static void check_grain(void)
{
	static uint64_t v[4096];
	const unsigned n = sizeof v / sizeof *v, most = n - n / 10;
	const struct cpuc_clock *clock = cpuc_calibration.clock;
	uint64_t begun, step, grain = cpuc_clock_grain(clock, &step);
	unsigned i, different = 1;
	volatile unsigned wait;

	for (i = 0; i < n; i++) {
		begun = (uint64_t)clock->tick();
		for (wait = i % 97; wait > 0; wait--)
			;
		v[i] = (uint64_t)clock->tick() - begun;
	}
	cpuc_sort(v, n);
	for (i = 1; i < most; i++)
		different += v[i] != v[i - 1];
	ok(2 * grain * different >= v[most - 1] - v[0],
	   "a grain of %u ticks: waits of %u to %u ticks have %u lengths",
	   (unsigned)grain, (unsigned)v[0], (unsigned)v[most - 1], different);
}

int main(void)
{
	struct cpucycles_counter c;

	point("a thread that lacks the calibration makes it", reads_first,
	      "no counter here is calibrated");
	if (!load_select()) {
		skip("%s is not calibrated", cpucycles_implementation());
		return done_testing();
	}
	cpucycles_counterbyname(NULL, &c, sizeof c);
	affinity_pin(affinity_here());
	if (c.per_thread && cpucycles_interruptions() >= 0) {
		check_interruptions();
		check_sections();
	} else {
		skip("interruptions: no restartable sequences");
	}
	check_rate();
	check_grain();
	return done_testing();
}
