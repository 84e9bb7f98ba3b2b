/* SPDX-License-Identifier: 0BSD */
/* The calibrated counter of this machine, if it has one: a thread may be the
 * first to read it, and the core's rate is known. */
#include "faults/faults.h"

#include "registry.h"

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
	check_rate();
	return done_testing();
}
