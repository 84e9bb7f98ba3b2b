/* SPDX-License-Identifier: 0BSD */
/* Long intervals in which the core's rate changes, on pretended machines whose
 * windows and glimpses are disturbed now and then: count, work without
 * counting, count. CASES intervals of each kind. */
#include "sim_machine.h"

static const struct kind {
	const char *name;
	struct machine m;
} kinds[] = {
	{"x86", AT(2.0, 2.6, 1)},
	{"x86, steps of 26 ticks", AT(2.0, 2.6, 26)},
	{"arm64, 24 MHz", AT(2.0, 0.024, 1, .ops = &arm)},
	{"riscv64, 1 MHz", AT(2.0, 0.001, 1, .ops = &arm)},
};

static const unsigned disturbed[] = {0, 20, 3};
static const double lengths[] = {5e6, 20e6, 100e6, 1000e6};

/* What must hold: not less than 0.99 of the truth less the first 3 ms, not more
 * than 1.02 of it and these. */
#define FIRST_NS 3e6

static double low, high; /* the least and the greatest share of the work */

/* In cycles; and the ns that the call takes that ends it. */
struct interval {
	double done, counted, took;
};

/* So many ns at one rate, then at another one, perhaps of another core. */
static struct interval interval(double before, double from, double after,
				double to, bool moves)
{
	uint64_t counted = count();
	struct interval of = {.done = -cycles};
	double share;

	pass(before * from);
	on.core = to;
	cpu += moves;
	pass(after * to);
	of.done += cycles;
	of.took = -measuring;
	of.counted = (double)(count() - counted);
	of.took += measuring;
	share = of.counted / of.done;
	low = share < low ? share : low;
	high = share > high ? share : high;
	return of;
}

static double between(double least, double most)
{
	return least + up_to(most - least);
}

static void begin_kind(const struct kind *k)
{
	open_machine(k->m);
	low = 2;
	high = 0;
}

/* A thread that has just begun, or one that has counted for 20 ms. */
static void begin(double core, bool fresh)
{
	on.core = core;
	on.turning = 0;
	calibrated_forget();
	highest = 0;
	if (!fresh)
		run(20e6);
}

/* One row of each: how many are too low, and too high. */
static void check(const struct kind *k, unsigned bad, double ns, long n)
{
	double longest[2] = {0, 0}; /* on a slower and on a faster core */
	double lower, higher, from, to, at, first;
	int too_low = 0, too_high = 0;
	bool faster;
	struct interval of;
	long i;

	begin_kind(k);
	on.bad = bad;
	for (i = 0; i < n; i++) {
		lower = between(0.8, 1);
		higher = lower * between(1.1, 5);
		faster = i / 2 % 2 != 0;
		from = faster ? lower : higher;
		to = faster ? higher : lower;
		at = between(0.5e6, 1.5e6);
		first = at * from + (FIRST_NS - at) * to;
		begin(from, i % 2);
		of = interval(at, from, ns - at, to, false);
		too_low += of.counted < 0.99 * (of.done - first);
		too_high += of.counted > 1.02 * (of.done + first);
		if (of.took > longest[faster])
			longest[faster] = of.took;
	}
	ok(too_low == 0 && too_high == 0 && up,
	   "%s, %g ms, one window in %u disturbed: %d of %ld too low, %d too "
	   "high; %.3f to %.3f of the work",
	   k->name, ns / 1e6, bad, too_low, n, too_high, low, high);
	/* With a clock that is fine enough for short windows. A lower rate must
	 * last for 1/16, twice if a measurement is due after a glimpse that
	 * disturbed windows did not confirm. A higher one need not last. */
	if (k->m.ticks >= 1)
		ok(bad == 0 ? longest[0] < ns / 8 && longest[1] < 0.5e6
			    : longest[0] < ns / 4,
		   "the last call takes %.3f ms at most, %.3f on a faster core",
		   longest[0] / 1e6, longest[1] / 1e6);
}

/* What is not known of the end must not make it too low: a move to a slower
 * core just before, and a lower rate that lasts for 0.8 ms, as a Cascade Lake's
 * does after wide instructions. */
static void ends(double ns, bool moves, long n)
{
	double core;

	begin_kind(kinds);
	while (n-- > 0) {
		core = between(2, 4);
		begin(core, false);
		on.turning = moves ? 0 : now + ns + 0.8e6;
		on.later = core;
		interval(ns, core, 20e3, core * between(0.4, 0.95), moves);
	}
	ok(low > 0.99 && high < 1.02 && up,
	   "%g ms that end %s: %.3f to %.3f of the work", ns / 1e6,
	   moves ? "on a slower core" : "at a lower rate, for a moment", low,
	   high);
}

/* A faster core where no measurement is due, and one of two glimpses that an
 * interruption makes as long as on the slower one. */
static void hidden(void)
{
	begin_kind(kinds);
	begin(2, true);
	for (int i = 0; i < 20; i++) {
		on.core = 2;
		run(1e9);
		jump_in = 2 + i % 2 * 2;
		jump = (cpuc_calibration.glimpse_turns * 96 + 40) / 4.0 *
		       on.ticks;
		interval(1e6, 2, 1e6, 4, false);
	}
	ok(low > 0.99 && jump_in == 0,
	   "one of two glimpses looks like the old rate: %.3f of the work",
	   low);
}

int main(void)
{
	const char *text = getenv("CASES");
	long n = text != NULL ? strtol(text, NULL, 0) : 1000;
	size_t i, j, k;

	/* make check-long asks for as many as a pure function can have. */
	n = n < 4000 ? n : 4000;
	machine_prepare();
	for (i = 0; i < COUNT(kinds); i++)
		for (j = 0; j < COUNT(disturbed); j++)
			for (k = 0; k < COUNT(lengths); k++)
				check(&kinds[i], disturbed[j], lengths[k], n);
	for (i = 0; i < 4; i++)
		ends(i % 2 ? 1000e6 : 20e6, i < 2, n);
	hidden();
	return done_testing();
}
