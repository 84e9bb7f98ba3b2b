/* SPDX-License-Identifier: 0BSD */
/* The calibrated counter of this machine, if it has one: a thread may be the
 * first to read it, the core's rate is known, and waits are interruptions, as
 * preemptions are in live_waits. What there is without restartable sequences,
 * tests/amalgamation/fibre.c looks at. */
#include "load.h"

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
	struct cpucycles_counter c;

	point("a thread that lacks the calibration makes it", reads_first,
	      "no counter here is calibrated");
	if (!load_select()) {
		skip("%s is not calibrated", cpucycles_implementation());
		return done_testing();
	}
	cpucycles_counterbyname(NULL, &c, sizeof c);
	affinity_pin(affinity_here());
	if (c.per_thread && cpucycles_interruptions() >= 0)
		check_interruptions();
	else
		skip("interruptions: no restartable sequences");
	check_rate();
	return done_testing();
}
