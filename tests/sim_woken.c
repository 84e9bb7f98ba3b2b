/* SPDX-License-Identifier: 0BSD */
/* A pretended thread on a virtual machine, beside one that is woken so often
 * that a part of what the thread runs does not pay for what counts of each
 * preemption; and whether calls see that something is hidden. */
#include "sim_machine.h"

#define CORE 3.0   /* GHz */
#define BESIDE 4e9 /* ns of a thread, and its rival */

/* Another thread has the CPU for so long in the mean, and then this one for up
 * to so long, whatever it does. If another CPU wakes that one, its interrupt
 * comes late, or this one enters the guard before. */
static struct rival {
	double has, apart;
	bool woken;
} rival;
static double woken_at;

static void rival_has(void)
{
	leave(rival.has / 2 + up_to(rival.has), false);
	woken_at = strike_at = now + up_to(rival.apart);
	if (rival.woken)
		strike_at += lateness(&virtual_late);
}

static void rival_comes(void)
{
	const double most = cpuc_calibration.switch_hides / on.ticks;
	const double hidden = hide(now - woken_at);

	strike_at = 1e300;
	beyond += hidden > most ? hidden - most : 0;
	rival_has();
}

/* All that this hides counts: the word tells that it came after the interval.
 */
static void rival_meets_guard(void)
{
	if (now < woken_at)
		return;
	hide(now - woken_at);
	rival_has();
}

static unsigned readings; /* of the thread's clock */

static double read_own(void)
{
	readings++;
	return now - on.away;
}

/* A thread's pieces beside it, on a new virtual machine: their number, how many
 * count less than their work, but for what a switch has hidden beyond what is
 * granted, and what all count of it; for how long the thread ran, and how often
 * its clock was read. */
struct beside {
	unsigned pieces, low, readings;
	double sum, ran;
};

static struct beside beside(struct rival r, double piece)
{
	struct beside all = {.low = 0};
	double before, share, end, began, away;
	const double work = piece * CORE;
	uint64_t a, first;

	settled((struct machine)AT(CORE, 2.096, 21, .virtual = true));
	rival = r;
	strike = rival_comes;
	enter_hook = rival_meets_guard;
	rival_has();
	readings = 0;
	own_ns = read_own;
	away = on.away;
	beyond = 0;
	first = count();
	began = now;
	for (end = now + BESIDE; now < end; all.pieces++) {
		a = count();
		before = beyond;
		beyond = 0;
		pass(work);
		share = (double)(count() - a) / work +
			(before + beyond) / piece;
		all.low += share < 0.95;
	}
	all.sum = (double)(count() - first) / (all.pieces * work);
	all.ran = now - began - (on.away - away);
	all.readings = readings;
	return all;
}

/* Of pieces that are short enough for a call in what is hidden now and then
 * none is low. cpucycles(7) says how many longer ones are. */
static void hidden_often(double piece, bool some_low)
{
	const struct rival r = {.has = 96e3, .apart = 100e3, .woken = true};
	const struct beside all = beside(r, piece);
	const double hides = cpuc_calibration.switch_hides / on.ticks;

	ok(up && all.low <= (some_low ? 3 * all.pieces / 10 : 0) &&
		   all.sum < 1 + hides / (r.apart / 2),
	   "another is woken after each 50 us of work: %u of %u pieces of %g "
	   "us are below 0.95 of the work; %.4f in all",
	   all.low, all.pieces, piece / 1e3, all.sum);
}

/* Where nothing is hidden, no more counts than so many preemptions and a part
 * of what the thread ran, in calls, too; and what each closing rounds. */
static void hidden_never(void)
{
	const double piece = 30e3;
	const struct rival r = {.has = 96e3, .apart = 100e3};
	const struct beside all = beside(r, piece);
	const double ahead = GRANT_SWITCHES * cpuc_calibration.switch_hides;
	const double rounded = ahead / (1 << 15) * all.readings;
	const double most =
		1 + ((ahead + rounded) / on.ticks + all.ran / GRANT_PART) /
			    (all.pieces * piece);

	ok(up && all.sum < most,
	   "nothing is hidden: %.4f of the work counts, at most %.4f", all.sum,
	   most);
}

/* Nor does a count that a handler has ended, between the look at the word and
 * the guard, prove anything of the interval that the handler began. */
static void handler_waits(void)
{
	enter_hook = NULL;
	count();
	leave(1e8, true);
}

static void ended_by_handler(void)
{
	uint64_t a;

	settled((struct machine)AT(CORE, 2.096, 21, .virtual = true));
	a = count();
	calibrated_expire();
	enter_hook = handler_waits;
	a = count() - a;
	ok(up && a < 1000000, "a handler counts and waits 0.1 s: %.0f cycles",
	   (double)a);
}

int main(void)
{
	const unsigned seeds = machine_prepare();

	for (seed = 0; seed < seeds; seed++) {
		hidden_often(10e3, false);
		hidden_often(30e3, false);
		hidden_often(100e3, false);
		hidden_often(300e3, true);
		hidden_never();
		ended_by_handler();
	}
	return done_testing();
}
