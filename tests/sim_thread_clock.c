/* SPDX-License-Identifier: 0BSD */
/* Whether the thread's clock is believed: one that advances as the ticks do is,
 * one with steps of milliseconds, of another rate or that stands still is not,
 * though each of them answers. */
#include <config.h>
#include <stdint.h>
#define cpuc_os_clock_thread pretended_thread
#include "../src/calibrated/calibration.c"
#include "tap.h"

#define HZ 2500000000

static uint64_t now, step, read_ns; /* ns */
static double rate;

/* It stood still for so many ns while an interrupt was handled, just before its
 * second reading. */
static uint64_t interrupt, lost;
static unsigned reads;

static long long tick(void)
{
	now += 10;
	return (long long)(now * 5 / 2);
}

uint64_t pretended_thread(uint64_t hz)
{
	now += read_ns;
	lost += ++reads == 2 ? interrupt : 0;
	return (uint64_t)((double)((now - lost) / step * step) * rate *
			  (double)hz / 1e9);
}

static void check(const char *name, uint64_t its_step, double its_rate,
		  bool expected)
{
	int i, agrees = 0;

	step = its_step;
	rate = its_rate;
	for (i = 0; i < 1000; i++) {
		now += 12345;
		reads = 0;
		agrees += cpuc_calibration_thread_clock(tick, HZ);
	}
	ok(expected ? agrees == i : agrees == 0, "%s: believed %d times of %d",
	   name, agrees, i);
}

/* Cores of 4 GHz. */
static void glimpse(uint32_t turns, uint64_t stamp[2])
{
	stamp[0] = (uint64_t)tick();
	now += 8 * turns;
	stamp[1] = (uint64_t)tick();
}

static void window(uint32_t turns, uint64_t stamp[3])
{
	glimpse(turns, stamp);
	now += CPUC_LONG_RUN * 8 * turns;
	stamp[2] = (uint64_t)tick();
}

static void calibrated(uint64_t its_step, bool expected)
{
	static const struct cpuc_chain chain = {window, glimpse, 32, "one"};
	static const struct cpuc_chain_ops chains = {&chain, 1, 0};
	static struct cpuc_clock clock_of = {
		.tick = tick, .chains = &chains, .hz = HZ};
	static const struct cpuc_counter counter = {.kind = CPUC_CALIBRATED,
						    .clock = &clock_of};
	struct cpuc_slot slot = {.counter = &counter};

	step = its_step;
	rate = 1;
	cpuc_calibration.clock = NULL;
	ok(cpuc_calibrate(&slot) == 0 &&
		   cpuc_calibration.thread_clock == expected,
	   "a calibration %s one with steps of %u ns",
	   expected ? "believes" : "does not believe", (unsigned)its_step);
}

int main(void)
{
	now = 1000000000;
	for (read_ns = 100; read_ns <= 900; read_ns += 400) {
		check("a clock that advances as the ticks do", 1, 1, true);
		check("steps of 10 ms", 10000000, 1, false);
		check("of 4 ms", 4000000, 1, false);
		check("twice the rate", 1, 2, false);
		check("one that stands still", UINT64_MAX, 1, false);
		interrupt = 5000;
		check("one that an interrupt stops", 1, 1, true);
		interrupt = 0;
	}
	calibrated(1, true);
	calibrated(4000000, false);
	return done_testing();
}
