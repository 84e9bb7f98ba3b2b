/* SPDX-License-Identifier: 0BSD */
/* A pretended machine for the calibrated count, which this includes: a clock of
 * known step, a core of known rate and a kernel, so that every promise can be
 * checked exactly. */
#ifndef SIM_MACHINE_H
#define SIM_MACHINE_H

#include <config.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
/* The pretended kernel's word and the thread's clock, in place of rseq.c. */
#define cpuc_rseq_own fake_word
#define cpuc_thread_cpu fake_cpu
#define cpuc_thread_switches fake_switches
#define cpuc_rseq_misses_waits fake_misses_waits
#define cpuc_os_clock_thread fake_thread
#include "thread/guard.h"
/* Switches often come at the guard's system calls. */
#define cpuc_guard_enter(guard) (enter(), cpuc_guard_enter(guard))
static void enter(void);
#include "../src/calibrated/count.c"
#include "../src/calibrated/thread_clock.c"
#include "sim_kernel.h"
#include "tap.h"

static void (*enter_hook)(void);

static void enter(void)
{
	if (enter_hook != NULL)
		enter_hook();
}

static long long fake_tick(void)
{
	long long tick;

	come_in();
	pass(on.reading);
	tick = (long long)shown();
	come_in();
	return tick;
}

/* In one of the next runs the clock jumps by so many ticks. */
static double jump;
static int jump_in;

/* A run of so many cycles, up to the clock's reading at its end. Some of those
 * that are timed are disturbed. */
static uint64_t run_of(double links, bool timed)
{
	pass(40 + links);
	if (jump_in > 0 && --jump_in == 0)
		on.ahead += jump / on.ticks;
	next_draw();
	if (timed && on.bad > 0 &&
	    (on.bad == 1 || (draw >> 16) % (2 * on.bad) == 0))
		now += 1500 + (draw >> 8) % 20000;
	return shown();
}

/* A window of a chain whose turn takes so many cycles, and 8 times as many in
 * the long run. */
static unsigned windows, glimpses; /* that were made */

static void window_of(double turn, uint32_t turns, uint64_t stamp[3])
{
	void (*h)(void) = hook;
	const double bubbles = on.bubble * turns;

	windows++;
	if (up_to(1) < on.longer)
		turn *= 1 + up_to(2 * on.by);
	stamp[0] = run_of(turn + on.bubble + up_to(on.jitter), false);
	stamp[1] = run_of(turn * turns + bubbles + up_to(on.jitter), true);
	stamp[2] = run_of(8 * turn * turns + bubbles + up_to(on.jitter), true);
	if (h && turns > 1) {
		hook = NULL;
		h();
	}
}

/* Of a Cascade Lake's glimpses, 98 in 100 are within one step of its clock, and
 * the others up to ten cycles longer. */
static void glimpse_of(double turn, uint32_t turns, uint64_t stamp[2])
{
	double more = up_to(100) < 2 ? up_to(10) : up_to(0.5);

	glimpses++;
	stamp[0] = run_of(turn + on.bubble, false);
	stamp[1] = run_of((turn + on.bubble) * turns + more, true);
	come_in();
}

/* A chain's window, and its glimpse; all but the first are of instructions that
 * take a cycle. */
#define RUNS(name, cycles)                                            \
	static void name##_window(uint32_t turns, uint64_t stamp[3])  \
	{                                                             \
		if (on.sibling_ends > 0 && now > on.sibling_ends)     \
			on.sibling = 1;                               \
		window_of(cycles, turns, stamp);                      \
	}                                                             \
	static void name##_glimpse(uint32_t turns, uint64_t stamp[2]) \
	{                                                             \
		glimpse_of(cycles, turns, stamp);                     \
	}

#define ONES(i) RUNS(ones_##i, 32 * on.sibling * (1 + on.odd[i]))

RUNS(multiplies, 32 * 3 * (1 + on.odd[0]))
ONES(0)
ONES(1)
ONES(2)
ONES(3)

#define CHAIN(of, n, by)                                                       \
	{                                                                      \
		.window = of##_window, .glimpse = of##_glimpse, .cycles = (n), \
		.name = (by)                                                   \
	}

static const struct cpuc_chain x86_chain[] = {
	CHAIN(multiplies, 32 * 3, "imul"), CHAIN(ones_1, 32, "ror"),
	CHAIN(ones_2, 32, "xor"), CHAIN(ones_3, 32, "not")};
static const struct cpuc_chain arm_chain[] = {
	CHAIN(ones_0, 32, "eor"), CHAIN(ones_1, 32, "sub"),
	CHAIN(ones_2, 32, "eon"), CHAIN(ones_3, 32, "orn")};

static const char *distrusted(void)
{
	return on.distrusted;
}

static bool bare(void)
{
	return !on.virtual;
}

#define CHAIN_OPS(of, by)                                 \
	{                                                 \
		.chain = of, .nchains = 4, .slack = (by), \
		.distrusted = distrusted, .bare = bare    \
	}

static const struct cpuc_chain_ops x86 = CHAIN_OPS(x86_chain, 400);
static const struct cpuc_chain_ops arm UNUSED = CHAIN_OPS(arm_chain, 0);

static struct cpuc_clock the_clock = {.tick = fake_tick};
static const struct cpuc_counter the_counter = {.kind = CPUC_CALIBRATED,
						.clock = &the_clock};
static struct cpuc_slot the_slot = {.counter = &the_counter};
static const char *const refusal UNUSED = the_slot.trial.reason;

/* The most of the time that calibration may take where the rate moves. */
#define SHARE_MOST (7. / 6 / SHARE_MOVING)

/* A machine's core, GHz, ticks a ns, so many at a time, and what else is not as
 * usual; and one as most are. */
#define AT(ghz, by, ...)                                      \
	{                                                     \
		.core = ghz, .ticks = by, .step = __VA_ARGS__ \
	}
static const struct machine usual UNUSED = AT(4.0, 2.596, 26);

static uint64_t count(void)
{
	double a = now + 38 / rate();
	uint64_t given = highest, n = cpuc_count(fake_tick);

	measuring += now - a;
	up &= n >= given;
	highest = n > highest ? n : highest;
	return n;
}

/* As if this thread had not counted. */
static void calibrated_forget(void)
{
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
}

static int calibrate(void)
{
	int err;

	calibrated_forget();
	highest = 0;
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
	the_clock.chains = on.ops;
	the_clock.hz = (uint64_t)(on.ticks * 1e9 + .5);
	err = cpuc_calibrate(&the_slot);
	/* That has compared the real one with these ticks. */
	cpuc_calibration.thread_clock = true;
	return err;
}

/* Begins anew with this machine, in which what is 0 is as usual. Machines of
 * another seed begin elsewhere in everything. */
static int open_machine(struct machine m)
{
	on = m;
	on.ops = m.ops != NULL ? m.ops : &x86;
	on.reading = m.reading > 0 ? m.reading : 38;
	on.sibling = m.sibling > 0 ? m.sibling : 1;
	now = begun = 1234567.8 * seed;
	if (m.sibling_ends > 0)
		on.sibling_ends += now;
	draw = 1 + seed;
	hook = tick_hook = strike = enter_hook = NULL;
	fake_misses_waits = m.kernel == HIDES_WAITS;
	up = 1;
	return calibrate();
}

static double truth(void)
{
	return on.core * (1 + on.drift * now) / on.ticks;
}

/* How far the ratio in use is off, relative. */
static double off(void)
{
	return distance(
		(double)cpuc_own_count.ratio.estimate / 4294967296. / truth() - 1);
}

/* Timings of about 90000 cycles for `ns`; the largest error of the ratio. */
static double run(double ns)
{
	double end = now + ns, worst = 0;

	count();
	for (int i = 0; now < end; i++) {
		pass(90000 + i % 977);
		count();
		worst = off() > worst ? off() : worst;
	}
	return worst;
}

/* This machine in its second second. */
UNUSED static void settled(struct machine m)
{
	open_machine(m);
	run(1e9);
	measuring = 0;
}

/* The usual machine with this kernel, in its second second. */
UNUSED static void settled_with(enum kernel k)
{
	cpu = 0;
	settled((struct machine)AT(4.0, 2.596, 26, .kernel = k));
}

/* ns that switches hid beyond what is granted for one, in all. */
UNUSED static double beyond;

static void hide_late(void)
{
	const double ns =
		hide(lateness(on.virtual ? &virtual_late : &bare_late));
	const double most = cpuc_calibration.switch_hides / on.ticks;

	beyond += ns > most ? ns - most : 0;
}

/* Another thread, which is woken on another CPU, has this one's. */
UNUSED static void preempt(double ns)
{
	hide_late();
	leave(ns, false);
}

/* The next call measures. */
UNUSED static void calibrated_expire(void)
{
	cpuc_own_count.due = 0;
	cpuc_own_count.ratio.glimpse_in = 0;
	cpuc_own_count.ratio.measure_in = 0;
}

/* Returns how many seeds to try. Emulators are slow. */
static unsigned machine_prepare(void)
{
	const char *seeds = getenv("SIM_SEEDS");

	cpuc_process_prepare();
	cpuc_rseq_section = sections;
	return seeds != NULL ? (unsigned)atoi(seeds) : 4;
}

#endif
