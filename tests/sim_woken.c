/* SPDX-License-Identifier: 0BSD */
/* A pretended thread on a virtual machine, beside one that is woken so often
 * that a part of what the thread runs does not pay for what counts of each
 * preemption: whether measurements see that something is hidden. */
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

static void rival_hides(bool known)
{
	const double most = cpuc_calibration.switch_hides / on.ticks;
	const double hidden = hide(now - woken_at);

	if (!known && hidden > most)
		beyond += hidden - most;
}

static void rival_comes(void)
{
	strike_at = 1e300;
	rival_hides(false);
	rival_has();
}

/* If the word tells that it came after the interval, all of that counts. */
static void rival_meets_guard(void)
{
	if (now < woken_at)
		return;
	rival_hides(on.kernel == REPORTS);
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
 * granted, and what all count of it; for how long the thread ran; and windows
 * and readings of its clock meanwhile. */
struct beside {
	unsigned pieces, low, windows, readings;
	double sum, ran;
};

static struct beside beside(struct rival r, double piece, enum kernel kernel)
{
	struct beside all = {.low = 0};
	double before, share, end, began, away;
	const double work = piece * CORE;
	uint64_t a, first;

	settled((struct machine)AT(CORE, 2.096, 21, .kernel = kernel,
				   .virtual = true));
	rival = r;
	if (r.has > 0) {
		strike = rival_comes;
		enter_hook = rival_meets_guard;
		rival_has();
	}
	windows = readings = 0;
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
	all.windows = windows;
	all.readings = readings;
	return all;
}

/* A call after longer work than is hidden cannot see that anything was. */
static void hidden_often(enum kernel kernel)
{
	static const double us[] = {10, 30, 100, 300};
	const struct rival r = {.has = 96e3, .apart = 100e3, .woken = true};
	struct beside all;
	double hides;

	for (size_t i = 0; i < COUNT(us); i++) {
		all = beside(r, us[i] * 1e3, kernel);
		hides = cpuc_calibration.switch_hides / on.ticks;
		ok(up && all.low == 0 && all.sum < 1 + hides / (r.apart / 2),
		   "others are woken each 50 us, %s: %u of %u pieces of %g us "
		   "are below 0.95 of the work; %.4f in all",
		   kernel_name[kernel], all.low, all.pieces, us[i], all.sum);
	}
}

/* Where nothing is hidden, no more counts than so many preemptions and a part
 * of what the thread ran, in calls, too; and what each closing rounds.
 * Measurements take no more than where the rate moves, and some bring a window
 * that confirms no step. */
static void hidden_never(void)
{
	const double piece = 30e3;
	const struct rival r = {.has = 96e3, .apart = 100e3};
	const struct beside all = beside(r, piece, REPORTS);
	const double ahead = GRANT_SWITCHES * cpuc_calibration.switch_hides;
	const double rounded = ahead / (1 << 15) * all.readings;
	const double most =
		1 + ((ahead + rounded) / on.ticks + all.ran / GRANT_PART) /
			    (all.pieces * piece);
	const double soon = cpuc_calibration.window_ticks / on.ticks *
			    MEASUREMENT_SHORT * MEASUREMENT_MOVING;

	ok(up && all.sum < most && all.windows < 2 * BESIDE / soon,
	   "nothing is hidden: %.4f of the work counts, at most %.4f; %u "
	   "windows of %.0f",
	   all.sum, most, all.windows, 2 * BESIDE / soon);
}

/* What is paid back at once brings no measurements. */
static void seldom(void)
{
	const struct beside alone =
		beside((struct rival){.has = 0}, 30e3, REPORTS);
	const struct beside all = beside(
		(struct rival){.has = 96e3, .apart = 1e6}, 30e3, REPORTS);

	ok(up && all.windows < 2 * alone.windows,
	   "%u windows beside a thread that comes each 0.5 ms, %u without it",
	   all.windows, alone.windows);
}

int main(void)
{
	const unsigned seeds = machine_prepare();

	for (seed = 0; seed < seeds; seed++)
		for (enum kernel k = REPORTS; k < KERNELS; k++)
			hidden_often(k);
	hidden_never();
	seldom();
	return done_testing();
}
