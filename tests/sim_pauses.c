/* SPDX-License-Identifier: 0BSD */
/* The time for which the thread does not run, on a pretended machine: what
 * counts of it, by how much it is disturbed. */
#include "sim_machine.h"
#include <math.h>

/* What may come in an interval of so much work: of each kind one in so many
 * intervals, or 0, which takes up to so many ns. The thread moves to a core
 * whose clock is so far ahead, and back; or all is on another host, whose ticks
 * are shorter than those to which the thread's clock is converted. `reported`
 * and `otherwise` are the most that all intervals count of the work. */
static const struct disturbance {
	const char *name;
	double work, reported, otherwise;
	unsigned host, others, waits;
	double host_most, others_most, waits_most, ahead, shorter;
} disturbances[] = {
	{"half of the CPU", 4e6, 1.006, 1.006, .others = 1, .others_most = 8e6},
	{"others", 2e4, 1.1, 1.1, .others = 5, .others_most = 8e6},
	{"sleeping 1 ms", 5e5, 1.005, 1.005, .waits = 1, .waits_most = 2e6},
	{"waits of 50 us", 1e5, 1.013, 1.08, .waits = 1, .waits_most = 1e5},
	{"short waits", 2e4, 1.03, 1.35, .waits = 2, .waits_most = 6e4},
	{"others and waits", 2e4, 1.045, 1.2, .others = 20, .others_most = 1e5,
	 .waits = 3, .waits_most = 1e5},
	{"interrupts and others", 2e4, 1.015, 1.015, .host = 3,
	 .host_most = 1e3, .others = 300, .others_most = 8e6},
	/* What interrupts and the host take counts. It is known though there
	 * is a switch each 3 ms. */
	{"interrupts and waits", 1e5, 1.07, 1.07, .host = 1, .host_most = 4e3,
	 .waits = 30, .waits_most = 2e6},
	{"interrupts and rare others", 1e5, 1.07, 1.07, .host = 1,
	 .host_most = 4e3, .others = 30, .others_most = 6e6},
	{"the host takes a tenth", 1e5, 1.15, 1.15, .host = 1, .host_most = 2e4,
	 .others = 30, .others_most = 6e6},
	/* Of 100 us: 8 are granted, 3 the clocks may differ by unseen, and two
	 * readings of the thread's clock take 1.8. */
	{"a clock 1.6 s ahead", 1e5, 1.128, 1.128, .ahead = 1.6e9},
	{"1.6 s behind", 1e5, 1.128, 1.128, .ahead = -1.6e9},
	{"3 us ahead", 1e5, 1.128, 1.128, .ahead = 3e3},
	{"another host", 2e6, 1.03, 1.03, .others = 2, .others_most = 1e6,
	 .waits = 2, .waits_most = 1e6, .shorter = 1.25},
};

static bool once_in(unsigned n)
{
	return n > 0 && (unsigned)up_to(4 * n) == 0;
}

static void interval(const struct disturbance *s, unsigned n)
{
	for (int i = 0; i < 4; i++) {
		if (n % 2)
			count();
		pass(s->work / 4 * on.core);
		if (once_in(s->host))
			host_pauses(up_to(s->host_most));
		if (once_in(s->others))
			preempt(up_to(s->others_most));
		if (once_in(s->waits))
			leave(up_to(s->waits_most), true);
		if (i == 2 && s->ahead != 0) {
			cpu++;
			on.ahead = n % 2 ? 0 : s->ahead;
			leave(5e4, on.kernel != REPORTS);
		}
	}
}

/* Intervals from a count to the next: each counts its work, and not much more
 * than that. */
static void disturbed(const struct disturbance *s, enum kernel kernel)
{
	/* Interrupts and the host are as they come. */
	const double right = s->host && s->others <= 30 ? 0.95
			     : s->shorter > 0           ? 0.98
							: 0.99;
	const unsigned n = (unsigned)(2e9 / s->work);
	/* The first few, until what interrupts take is known; and one in a
	 * hundred of the switches, as it may be more than ever before. Chance
	 * adds twice its root. */
	const double few = !s->host         ? 0
			   : s->others > 30 ? n / s->others / 20
					    : n / 30 / 100;
	const unsigned most = (unsigned)(few + 2 * sqrt(few));
	double done, sum = 0, share, least = 2;
	unsigned low = 0, i;
	uint64_t a;

	settled_with(kernel);
	if (s->shorter > 0) {
		on.ticks *= s->shorter;
		run(300e6);
	}
	done = s->work * on.core;
	for (i = 0; i < n; i++) {
		a = count();
		interval(s, i);
		share = (double)(count() - a) / done;
		low += share < right;
		least = share < least ? share : least;
		sum += share;
	}
	ok(low <= most && up &&
		   sum / n < (kernel == REPORTS ? s->reported : s->otherwise),
	   "%s, %s: %u of %u intervals show less than the work, the lowest "
	   "%.3f of it; %.4f in all",
	   s->name, kernel_name[kernel], low, n, least, sum / n);
}

/* Work and waits of 100 us, and the host takes 6 ms once a second: each such
 * pause counts, and no later one more than the first. */
static void host_pauses_often(enum kernel kernel)
{
	double done, sum;
	int s, i;
	uint64_t a;

	settled_with(kernel);
	for (s = 0; s < 16; s++) {
		a = count();
		done = -cycles;
		for (i = 0; i < 5000; i++) {
			pass(5e4 * on.core);
			if (i == 1000 + 100 * s)
				host_pauses(6e6);
			pass(5e4 * on.core);
			count();
			leave(1e5, true);
		}
		done += cycles;
		sum = ((double)(count() - a) - 6e6 * on.core) / done;
	}
	ok(sum < 1.05,
	   "6 ms of the host's a second, %s: %.3f of the work in "
	   "the last of %d",
	   kernel_name[kernel], sum, s);
}

int main(void)
{
	enum kernel kernel;
	size_t i;

	machine_prepare();
	for (kernel = REPORTS; kernel < KERNELS; kernel++)
		for (i = 0; i < COUNT(disturbances); i++)
			disturbed(&disturbances[i], kernel);
	for (kernel = REPORTS; kernel < KERNELS; kernel++)
		host_pauses_often(kernel);
	/* One machine in twelve forgot what its glimpses take. */
	for (seed = 1; seed <= 40; seed++)
		disturbed(&disturbances[COUNT(disturbances) - 1], REPORTS);
	return done_testing();
}
