/* SPDX-License-Identifier: 0BSD */
/* What the thread's clock leaves out though the thread runs, on pretended
 * machines: interrupts from other CPUs come late, or the clock stands still
 * while interrupts and the host take time. */
#include "sim_machine.h"
#include <math.h>

enum { INTERRUPTS, HOST, RIVALS, WAITS, TAKERS };

/* What takes the CPU from the thread: so many ns pass before the next, and it
 * takes so many. */
enum often {
	NEVER,
	INTERRUPTS_1,
	INTERRUPTS_2,
	HOST_TENTH,
	HOST_OFTEN,
	HOST_6_MS,
	NOW_AND_THEN,
	OFTEN,
	BRIEFLY,
	ALIKE
};
static const struct taker {
	double apart, most_apart, takes, most;
} takers[] = {
	[INTERRUPTS_1] = {50e3, 150e3, 0.5e3, 1.5e3},
	[INTERRUPTS_2] = {50e3, 150e3, 1e3, 3e3},
	[HOST_TENTH] = {50e3, 150e3, 5e3, 17e3},
	[HOST_OFTEN] = {20e6, 60e6, 2e6, 6e6},
	[HOST_6_MS] = {500e6, 1500e6, 6e6, 6e6},
	[NOW_AND_THEN] = {0.1e6, 10e6, 20e3, 4e6},
	[OFTEN] = {0.1e6, 0.3e6, 20e3, 0.2e6},
	[BRIEFLY] = {50e3, 150e3, 10e3, 50e3},
	[ALIKE] = {100e3, 100e3, 100e3, 100e3},
};

/* How much all pieces count at most, of the work and of what interrupts and the
 * host took. */
static const struct bed {
	const char *name;
	enum often taker[TAKERS];
	double most;
	bool virtual, waits_hide;
} beds[] = {
	{"rivals", {[RIVALS] = NOW_AND_THEN}, .most = 1.05, .virtual = true},
	{"rivals, no virtual machine", {[RIVALS] = NOW_AND_THEN}, .most = 1.05},
	/* Of each 200 us 25 are granted, less what was hidden. */
	{"rivals, often", {[RIVALS] = OFTEN}, .most = 1.125, .virtual = true},
	{"rivals and waits",
	 {[RIVALS] = NOW_AND_THEN, [WAITS] = NOW_AND_THEN},
	 .most = 1.05,
	 .virtual = true},
	/* Where switches hide work, nothing is paid back. */
	{"rivals and waits, often",
	 {[RIVALS] = OFTEN, [WAITS] = OFTEN},
	 .most = 1.5,
	 .virtual = true},
	{"waits that hide work",
	 {[WAITS] = NOW_AND_THEN},
	 .most = 1.05,
	 .virtual = true,
	 .waits_hide = true},
	{"short ones",
	 {[WAITS] = BRIEFLY},
	 .most = 1.25,
	 .virtual = true,
	 .waits_hide = true},
	{"short waits", {[WAITS] = BRIEFLY}, .most = 1.25},
	{"interrupts 1%, rivals",
	 {[INTERRUPTS] = INTERRUPTS_1, [RIVALS] = NOW_AND_THEN},
	 .most = 1.05,
	 .virtual = true},
	{"interrupts 1%, waits",
	 {[INTERRUPTS] = INTERRUPTS_1, [WAITS] = NOW_AND_THEN},
	 .most = 1.05},
	{"interrupts 2%, waits",
	 {[INTERRUPTS] = INTERRUPTS_2, [WAITS] = NOW_AND_THEN},
	 .most = 1.05},
	{"interrupts 2%, rivals and waits",
	 {[INTERRUPTS] = INTERRUPTS_2,
	  [RIVALS] = NOW_AND_THEN,
	  [WAITS] = NOW_AND_THEN},
	 .most = 1.05},
	{"interrupts 2%, short waits",
	 {[INTERRUPTS] = INTERRUPTS_2, [WAITS] = BRIEFLY},
	 .most = 1.25},
	{"the host 10%, rivals",
	 {[HOST] = HOST_TENTH, [RIVALS] = NOW_AND_THEN},
	 .most = 1.05,
	 .virtual = true},
	{"the host 10%, waits",
	 {[HOST] = HOST_TENTH, [WAITS] = NOW_AND_THEN},
	 .most = 1.05,
	 .virtual = true},
	{"the host's pauses of ms, rivals and waits",
	 {[HOST] = HOST_OFTEN, [RIVALS] = NOW_AND_THEN, [WAITS] = NOW_AND_THEN},
	 .most = 1.05,
	 .virtual = true},
	{"6 ms of the host's, waits",
	 {[HOST] = HOST_6_MS, [WAITS] = ALIKE},
	 .most = 1.05,
	 .virtual = true},
	{"these and interrupts",
	 {[INTERRUPTS] = INTERRUPTS_1, [HOST] = HOST_6_MS, [WAITS] = ALIKE},
	 .most = 1.05,
	 .virtual = true},
};

static const double pieces[] = {10e3, 25e3, 100e3};

static double due[TAKERS], taken;

static double between(double least, double most)
{
	return least + up_to(most - least);
}

static void take(const struct bed *b, int i)
{
	const struct taker *t = &takers[b->taker[i]];
	const double ns = between(t->takes, t->most);

	if (i == RIVALS) {
		preempt(ns);
	} else if (i == WAITS) {
		/* Nobody has promised to count that. */
		if (b->waits_hide)
			beyond += hide(lateness(&virtual_late));
		leave(ns, true);
	} else {
		host_pauses(ns);
		taken += ns;
	}
	due[i] = now + between(t->apart, t->most_apart);
}

static void work(const struct bed *b, double ns)
{
	double left;
	int i, next;

	for (;;) {
		for (next = i = 0; i < TAKERS; i++)
			if (due[i] < due[next])
				next = i;
		left = due[next] > now ? due[next] - now : 0;
		if (left >= ns)
			break;
		pass(left * on.core);
		ns -= left;
		take(b, next);
	}
	pass(ns * on.core);
}

/* A second of a new thread's work in pieces: each counts its work, but for what
 * a switch in it, or one before that is not known yet, has hidden beyond what
 * is granted. Where interrupts and the host take time, the first switch may
 * come before that is known, and of a hundred one after more than before;
 * chance adds thrice the root of that. */
static void in_bed(const struct bed *b, double piece, enum kernel kernel)
{
	double done = 0, least = 9, share, end, sum;
	double before, few;
	uint64_t a, first;
	unsigned low = 0, switches = waited + preempted;

	cpu = 0;
	settled((struct machine)AT(4.0, 2.596, 26, .kernel = kernel,
				   .virtual = b->virtual));
	for (int i = 0; i < TAKERS; i++)
		due[i] = b->taker[i] != NEVER
				 ? now + between(0,
						 takers[b->taker[i]].most_apart)
				 : 1e300;
	taken = 0;
	beyond = 0;
	calibrated_forget();
	highest = 0;
	first = count();
	for (end = now + 1e9; now < end; done += piece * on.core) {
		a = count();
		before = beyond;
		beyond = 0;
		work(b, piece);
		share = (double)(count() - a) / (piece * on.core) +
			(before + beyond) / piece;
		low += share < 0.95;
		least = share < least ? share : least;
	}
	sum = (double)(count() - first) / (done + taken * on.core);
	switches = waited + preempted - switches;
	few = taken > 0 ? 1 + switches / 100. : 0;
	ok(low <= few + 3 * sqrt(few) && up && sum < b->most,
	   "%s, %s, pieces of %g us: %u are below 0.95 of the work beside %u "
	   "switches, the lowest %.3f; %.4f in all, %.2f%% measuring",
	   b->name, kernel_name[kernel], piece / 1e3, low, switches, least, sum,
	   measuring / 1e9 * 100);
}

/* A thread's first wait, after 3 ms: what interrupts take is known by then. */
static void first_waits(void)
{
	static const struct bed bed = {.taker = {[INTERRUPTS] = INTERRUPTS_2}};
	const double piece = 20e3;
	const int threads = 200;
	double least = 9, share, end;
	int i, low = 0;
	uint64_t a;

	settled(usual);
	due[HOST] = due[RIVALS] = due[WAITS] = 1e300;
	due[INTERRUPTS] = now;
	for (i = 0; i < threads; i++) {
		calibrated_forget();
		highest = 0;
		for (end = now + 3e6; now < end; count())
			work(&bed, piece);
		a = count();
		work(&bed, piece / 2);
		leave(1e6, true);
		work(&bed, piece / 2);
		share = (double)(count() - a) / (piece * on.core);
		low += share < 0.95;
		least = share < least ? share : least;
	}
	ok(up && low <= threads / 50,
	   "the first wait of a thread's, interrupts 2%%: %d of %d threads' "
	   "are "
	   "below 0.95, the lowest %.3f",
	   low, threads, least);
}

static unsigned readings; /* of the thread's clock */

static double read_own(void)
{
	readings++;
	return now - on.away;
}

/* After a reading of a thread's clock a part of each piece begins to be taken;
 * 1.5 to 4 ms later it waits, for the first time, in a piece. How much of that
 * counts; 0: the clock was read in between. */
static double first_after(double piece, double part, double wait)
{
	uint64_t a;
	double end;

	calibrated_forget();
	highest = 0;
	run(20e6);
	for (readings = 0; readings == 0; count())
		pass(piece * on.core);
	/* A measurement reads the clock, too. */
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	readings = 0;
	for (end = now + between(1.5e6, 4e6); now < end; count()) {
		pass(piece * on.core);
		host_pauses(piece * part);
	}
	if (readings > 0)
		return 0;
	a = count();
	pass(piece / 2 * on.core);
	leave(wait, true);
	pass(piece / 2 * on.core);
	return (double)(count() - a) / (piece * on.core);
}

/* Either so little is taken that it may always be, or more than a piece and a
 * gap are long. */
static void begins_to_take(double piece, double part, double wait,
			   enum kernel kernel)
{
	double least = 9, share;
	int i, threads = 0, low = 0;

	settled_with(kernel);
	own_ns = read_own;
	for (i = 0; i < 200; i++) {
		share = first_after(piece, part, wait);
		threads += share > 0;
		low += share > 0 && share < 0.95;
		if (share > 0 && share < least)
			least = share;
	}
	own_ns = NULL;
	ok(up && threads > 100 && low == 0,
	   "pieces of %g us, of which %g%% begin to be taken, %s: %d of %d "
	   "threads' first waits, of %g us, are below 0.95, the lowest %.3f",
	   piece / 1e3, part * 100, kernel_name[kernel], low, threads,
	   wait / 1e3, least);
}

static void begin_to_take(void)
{
	for (int k = 0; k < KERNELS; k++) {
		begins_to_take(20e3, 0.002, 4e6, (enum kernel)k);
		begins_to_take(20e3, 0.05, 0.1e6, (enum kernel)k);
		begins_to_take(20e3, 0.1, 0.1e6, (enum kernel)k);
	}
}

/* In a second without a switch. */
static unsigned readings_in(const struct bed *b)
{
	const double end = now + 1e9;

	readings = 0;
	while (now < end) {
		work(b, 20e3);
		count();
	}
	return readings;
}

/* What interrupts take is expected of the time since the latest reading, so
 * after a switch there are eight times as many, for as long as they do; where
 * much is missing, a second one tells whether the clock stands still. */
static void reads_sooner(void)
{
	static const struct bed bed = {.taker = {[INTERRUPTS] = INTERRUPTS_2}};
	unsigned before, meanwhile, after;

	settled(usual);
	due[INTERRUPTS] = due[HOST] = due[RIVALS] = due[WAITS] = 1e300;
	own_ns = read_own;
	before = readings_in(&bed);
	due[INTERRUPTS] = now;
	leave(1e6, true);
	meanwhile = readings_in(&bed);
	due[INTERRUPTS] = 1e300;
	run(0.1e9);
	after = readings_in(&bed);
	own_ns = NULL;
	ok(meanwhile > 7 * before && meanwhile < 16 * before &&
		   after < before + before / 10,
	   "%u readings of the thread's clock in a second, %u while interrupts "
	   "take time, %u after them",
	   before, meanwhile, after);
}

/* Nor is the clock read all the time, however many pauses there are. */
static void reads_at_most(void)
{
	unsigned soonest = 0;

	settled(usual);
	for (int i = 0; i < 1000; i++) {
		leave(1e5, false);
		pass(20000);
		count();
		if (soonest < cpuc_own_count.sooner)
			soonest = cpuc_own_count.sooner;
	}
	ok(soonest == COUNT_CLOCK_SOONEST,
	   "after many pauses it is read 2^%u times as often", soonest);
}

/* Where no switches are known a reading that lacks nothing tells as much. */
static void reads_seldom(void)
{
	static const struct bed bed = {0};
	unsigned before, after;

	settled(usual);
	due[INTERRUPTS] = due[HOST] = due[RIVALS] = due[WAITS] = 1e300;
	own_ns = read_own;
	before = readings_in(&bed);
	on.switches_unknown = true;
	for (int i = 0; i < 20; i++) {
		leave(1e6, true);
		run(1e6);
	}
	run(0.1e9);
	after = readings_in(&bed);
	own_ns = NULL;
	ok(after < before + before / 10,
	   "%u readings of the thread's clock in a second, %u after waits "
	   "where no switches are known",
	   before, after);
}

int main(void)
{
	const unsigned seeds = machine_prepare();
	size_t i, k;

	first_waits();
	begin_to_take();
	reads_sooner();
	reads_seldom();
	reads_at_most();
	for (seed = 0; seed < seeds; seed++)
		for (i = 0; i < COUNT(beds); i++)
			/* Waits that are not reported are found later. */
			for (k = beds[i].waits_hide && seed % KERNELS != REPORTS
					 ? COUNT(pieces)
					 : 0;
			     k < COUNT(pieces); k++)
				in_bed(&beds[i], pieces[k], seed % KERNELS);
	return done_testing();
}
