/* SPDX-License-Identifier: 0BSD */
/* cpucycles_interruptions() on this machine, with others who use restartable
 * sequences. Which events it tells, live_waits looks at; what there is without
 * them, tests/amalgamation/fibre.c. */
#include "load.h"

static void check_interruptions(void)
{
	long long before = 0, after;
	const char *name;
	int i;

	for (i = 0; i < 1000; i++) {
		before = cpucycles_interruptions();
		__asm__ __volatile__("");
		if (cpucycles_interruptions() == before)
			break;
	}
	ok(i < 1000, "no interruption in a short time");
	name = cpucycles_implementation();
	cpucycles_select("default-monotonic");
	before = cpucycles_interruptions();
	after = cpucycles_interruptions();
	usleep(1000);
	ok(cpucycles_interruptions() > before && after - before <= 1,
	   "with another counter, too");
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
#else
	skip("critical sections: none here");
#endif
}

int main(void)
{
	struct cpucycles_counter c;

	if (!load_select())
		skip_all("no calibrated counter here");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	load_pin();
	if (!c.per_thread || cpucycles_interruptions() < 0) {
		skip("interruptions: no restartable sequences");
		return done_testing();
	}
	check_interruptions();
	check_sections();
	return done_testing();
}
