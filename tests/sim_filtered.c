/* SPDX-License-Identifier: 0BSD */
/* A thread's clock of a kernel that distrusts its own clock: it goes on only at
 * the ticks of a timer, or no further than one tick, so it may lack most of a
 * thread's work. It is found out before many intervals are too low; a true
 * clock, of which stolen time and interrupts are taken off, stays believed. */
#include "sim_machine.h"

enum kind {
	STEPS,  /* notsc: the clock counts ticks */
	CLAMPS, /* tsc=unstable: a tick sets it, and it goes on for one more */
	TRUE,   /* it leaves out what the host and interrupts take, */
	TWICE /* and that of the host twice, where that came in an interrupt */
};

static enum kind kind;
static double period;         /* of the ticks, ns */
static double set_at, may_at; /* the latest tick, and the first of the next */
static double kernels, own;   /* the kernel's clock, and the thread's */
static double kernels_then;   /* the former at the latter's latest change */
static double owed;           /* that is yet to be taken off */

/* Without work a CPU has no ticks: the next one comes when it is due. */
static double kernel_clock(void)
{
	const double tick = (double)(long long)(now / period) * period;
	double t = now;

	if (kind == STEPS)
		t = tick;
	if (tick >= may_at)
		set_at = tick;
	if (kind == CLAMPS && t > set_at + period)
		t = set_at + period;
	kernels = t > kernels ? t : kernels;
	return kernels;
}

static double filtered(void)
{
	double ran = kernel_clock() - kernels_then, less;

	kernels_then = kernels;
	less = owed < ran ? owed : ran;
	owed -= less;
	own += ran - less;
	return own;
}

static void taken(double ns)
{
	now += ns;
	owed += kind == TWICE ? 2 * ns : ns;
}

/* Interrupts take 2% of the time, and the host 10%: 6 to 300 ms at a time. */
static void disturb(double ns)
{
	static double host_in = 3e8;

	if (kind < TRUE)
		return;
	taken(ns / 50);
	host_in -= ns;
	if (host_in <= 0) {
		host_in = 6e6 + up_to(up_to(294e6));
		taken(host_in);
		host_in *= 9;
	}
}

static void work(double ns)
{
	const double end = cycles + ns * on.core;
	double left;

	for (left = ns; left > 0; left = (end - cycles) / on.core) {
		left = left < 5e4 ? left : 5e4;
		pass(left * on.core);
		disturb(left);
		filtered();
		if (end - cycles < on.core)
			break;
	}
}

static void a_wait(double ns)
{
	filtered();
	leave(ns, true);
	if (kind == CLAMPS)
		may_at = (double)(long long)(now / period + 1) * period;
	kernel_clock();
	kernels_then = kernels;
}

static const struct row {
	enum kind kind;
	double period, work, wait; /* ns */
	bool before;               /* a count just before each wait, too */
	const char *what;
} rows[] = {
	{STEPS, 4e6, 3e5, 3e5, false, "steps of 4 ms, waits each 0.3 ms"},
	{STEPS, 1e6, 1e5, 1e5, false, "steps of 1 ms, waits each 0.1 ms"},
	{STEPS, 1e7, 1e6, 1e5, true, "steps of 10 ms, waits each ms"},
	{STEPS, 1e6, 1e7, 1e7, false, "steps of 1 ms, waits each 10 ms"},
	{CLAMPS, 4e6, 3e5, 3e5, false, "a clamp of 4 ms, waits each 0.3 ms"},
	{CLAMPS, 1e6, 3e5, 3e5, true, "a clamp of 1 ms, waits each 0.3 ms"},
	{CLAMPS, 4e6, 1e5, 1e5, false, "a clamp of 4 ms, waits each 0.1 ms"},
	{CLAMPS, 1e7, 1e6, 1e7, false, "a clamp of 10 ms, waits each ms"},
	{CLAMPS, 4e6, 1e7, 1e7, true, "a clamp of 4 ms, waits each 10 ms"},
	{TRUE, 4e6, 3e5, 3e5, false, "a true one, waits each 0.3 ms"},
	{TRUE, 4e6, 1e5, 1e5, true, "a true one, waits each 0.1 ms"},
	{TRUE, 4e6, 1e7, 1e7, false, "a true one, waits each 10 ms"},
	{TWICE, 4e6, 3e5, 3e5, false, "one that lacks twice as much"},
	{TWICE, 4e6, 1e7, 1e7, false, "the same, waits each 10 ms"},
};

#define ROUNDS 4000
#define AFTER 500 /* rounds, once it is known */
#define LOW 0.95
#define MOST 64 /* intervals too low before that */

static unsigned watches; /* calls that took longer than any measurement */
static double longest;

static uint64_t counted(void)
{
	const double before = measuring;
	const uint64_t n = count();

	watches += measuring - before > 2e6;
	if (measuring - before > longest)
		longest = measuring - before;
	return n;
}

/* The count of a round, per cycle of its work. */
static double one_round(const struct row *row)
{
	const uint64_t from = counted();
	const double half = row->work * (0.25 + up_to(0.5));
	double c;

	work(half);
	if (row->before)
		counted();
	a_wait(row->wait * (0.5 + up_to(1)));
	work(half);
	c = (double)(counted() - from);
	return c / (2 * half * on.core);
}

static void try_row(const struct row *row, enum kernel kernel)
{
	struct machine m = usual;
	unsigned low[2] = {0, 0}, rounds[2] = {0, 0};
	double lowest = 9, c;
	bool known;

	kind = TRUE;
	m.kernel = kernel;
	own = kernels = kernels_then = owed = 0;
	open_machine(m);
	period = row->period;
	set_at = may_at = 0;
	kind = row->kind;
	kernels_then = kernel_clock();
	own = now;
	own_ns = filtered;
	watches = 0;
	longest = 0;
	while (rounds[0] < ROUNDS && rounds[1] < AFTER) {
		c = one_round(row);
		known = !cpuc_thread_clock_ok();
		rounds[known]++;
		low[known] += c < LOW;
		lowest = c < lowest ? c : lowest;
	}
	own_ns = NULL;
	if (kind >= TRUE)
		ok(cpuc_thread_clock_ok() && up && watches <= LEAP_WATCHES &&
			   longest < 13e6,
		   "%s, %s: stays believed, and is watched %u times, for %.1f "
		   "ms at most",
		   row->what, kernel_name[kernel], watches, longest / 1e6);
	else
		ok(low[0] <= MOST && low[1] == 0 && up,
		   "%s, %s: %u of %u intervals too low, the lowest %.2f, then "
		   "%u of %u",
		   row->what, kernel_name[kernel], low[0], rounds[0], lowest,
		   low[1], rounds[1]);
}

int main(void)
{
	const unsigned seeds = machine_prepare();
	size_t i;
	int kernel;

	for (seed = 0; seed < seeds; seed++) {
		diag("seed %u", seed);
		for (i = 0; i < COUNT(rows); i++)
			for (kernel = 0; kernel < KERNELS; kernel++)
				try_row(&rows[i], (enum kernel)kernel);
	}
	return done_testing();
}
