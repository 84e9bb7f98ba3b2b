/* SPDX-License-Identifier: 0BSD */
/* The first call on a pretended machine whose clocks are coarse, or whose reads
 * trap: what is selected, how often clocks are read, and the time for it. */
#include <config.h>
#include <string.h>
#include "calibrated/calibration.h"
#include "calibrated/chain.h"
#include "rate/clock.h"
#include "select.h"
#include "system/probe.h"
#include "pretended_clock.h"
#include "pretended_rate.h"
#include "tap.h"

#define HZ UINT64_C(2600000000)
#define CORE 3.7 /* cycles per ns */

static struct machine {
	const char *what;
	double step;                   /* of the system's clock, ns */
	double read_tick, read_system; /* ns that a read takes */
	bool stated;                   /* the clock's rate */
	const char *why;               /* "core" is not used; "": it is */
	double ms;                     /* at most */
} on;

static double now;  /* ns */
static bool wavers; /* what a read takes: by up to a tenth, and more at times */
static double away, runs; /* ns for which others have the CPU, and till then */
static unsigned reads, draw;
static double uneven; /* ns by which a window differs from the next, or 0 */

static double pass(double ns)
{
	double chance;

	draw = draw * 1664525u + 1013904223u;
	chance = (double)(draw >> 8) / (1 << 24);
	if (wavers)
		ns += ns / 10 * chance + (draw % 64 == 0 ? ns : 0);
	runs -= ns;
	if (runs < 0) {
		ns += away * chance;
		runs = 1.3e6;
	}
	return now += ns;
}

uint64_t cpuc_os_clock_ns(void)
{
	reads++;
	return (uint64_t)(pass(on.read_system) / on.step) * (uint64_t)on.step;
}

static long long tick(void)
{
	reads++;
	return (long long)(pass(on.read_tick) * (HZ / 1e9));
}

static long long system_tick(void)
{
	return (long long)cpuc_os_clock_ns();
}

/* The clock after a chain of 32 links a turn. */
static uint64_t after(uint32_t turns)
{
	now += (40 + turns * 32.) / CORE;
	return (uint64_t)tick();
}

static void glimpse(uint32_t turns, uint64_t stamp[2])
{
	stamp[0] = after(1);
	stamp[1] = after(turns);
}

static void window(uint32_t turns, uint64_t stamp[3])
{
	static unsigned windows;

	glimpse(turns, stamp);
	now += ++windows % 7 * uneven;
	stamp[2] = after(8 * turns);
}

static struct cpuc_chain chain[] = {{window, glimpse, 32, "one"},
				    {window, glimpse, 32, "two"}};
static const struct cpuc_chain_ops chains = {.chain = chain, .nchains = 2};

static uint64_t right(void)
{
	return HZ;
}

static struct cpuc_clock clock_of,
	system_clock = {.tick = system_tick, .hz = 1000000000, .exact = true};

#define COUNTER(called, of_kind, by, reader)                                 \
	{                                                                    \
		.name = called, .kind = of_kind, .clock = by, .read = reader \
	}
static const struct cpuc_counter counters[] = {
	COUNTER("core", CPUC_CALIBRATED, &clock_of, tick),
	COUNTER("clock", CPUC_REFERENCE, &clock_of, tick),
	COUNTER("system", CPUC_OS, &system_clock, system_tick),
};
#define COUNTERS COUNT(counters)

static const struct machine machines[] = {
	{"fine", 1, 10, 20, false, "", 5},
	{"steps of 1 us", 1e3, 10, 20, false, "", 20},
	{"of 0.1 ms", 1e5, 10, 20, false, "", 5},
	{"of 1 ms", 1e6, 10, 200, false, "", 20},
	{"of 1 ms, quick reads", 1e6, 10, 20, false, "measured", 10},
	{"of 4 ms", 4e6, 10, 200, false, "measured", 20},
	{"of 10 ms, the rate is known", 1e7, 10, 20, true, "", 5},
	{"no clock, the rate is known", 1e18, 10, 20, true, "", 5},
	{"reads of 0.4 us", 1, 400, 400, false, "", 20},
	{"reads trap, 1.5 us", 1, 1500, 1500, false, "traps", 20},
	{"20 us", 1, 20000, 20000, false, "traps", 20},
	{"10 us, and the rate is known", 1, 10000, 10000, true, "traps", 20},
	{"5 us, but not of the system's clock", 1, 5000, 30, false, "traps",
	 20},
	{"5 us, and the system's clock has steps of 4 ms", 4e6, 5000, 300, true,
	 "traps", 20},
};

static const struct machine
	odd = {"chains disagree", 1, 10, 20, false, "one and two by 15.8%", 20},
	noisy = {"windows differ", 1, 10, 20, false, "too noisy", 40},
	busy = {"1 ms, on a busy CPU", 1e6, 10, 200, false, "measured", 40};

static void first_call(const struct machine *m)
{
	struct cpuc_slot slots[COUNTERS], *s;
	double began = now, ms, ratio;
	size_t i;
	int tried = 0;

	on = *m;
	clock_of = (struct cpuc_clock){.tick = tick,
				       .stated = m->stated ? right : NULL,
				       .chains = &chains,
				       .nominal = true};
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
	for (i = 0; i < COUNTERS; i++)
		slots[i] = (struct cpuc_slot){.counter = &counters[i]};
	reads = rates_asked = 0;
	cpuc_probe_begin();
	s = cpuc_select(slots, COUNTERS, NULL);
	cpuc_probe_end();
	ms = (now - began) / 1e6;
	ok(s != NULL && (s == slots) == (*m->why == '\0') &&
		   (*m->why != '\0'
			    ? strstr(slots[0].trial.reason, m->why) != NULL
			    : *slots[0].trial.reason == '\0'),
	   "%s: %s is selected (%s)", m->what,
	   s != NULL ? s->counter->name : "none", slots[0].trial.reason);
	ok(ms < m->ms, "in %.2f ms, by %u reads", ms, reads);
	ratio = (double)cpuc_calibration.ratio / 0x1p32 / (CORE / (HZ / 1e9));
	if (*m->why != '\0')
		return;
	ok(ratio > 0.99 && ratio < 1.01, "at a ratio %.4f of the right", ratio);
	/* However long its calls take; the nominal rate may be in files. */
	for (i = 1; i < COUNTERS; i++)
		tried += slots[i].trial.tried;
	ok(tried == 0 && rates_asked == 0,
	   "no clock is tried, and no nominal rate asked for");
}

/* A pause between the readings of two clocks shows in one of three estimates:
 * 7 of 60000 rates are wrong. Some are unknown, which takes 10 ms each. */
static void check_rate(void)
{
	double off;
	int i, far = 0;

	on = busy;
	away = 3e6;
	for (i = 0; i < 1000; i++) {
		clock_of = (struct cpuc_clock){.tick = tick};
		if (!cpuc_clock_rate(&clock_of))
			continue;
		off = (double)clock_of.hz / (double)HZ - 1;
		far += off > 0.01 || off < -0.01;
	}
	ok(far <= 3, "%d rates on a busy CPU: %d are wrong", i, far);
}

int main(void)
{
	size_t i;

	nominal_rate = HZ;
	chain[1].cycles = 38;
	first_call(&odd);
	chain[1].cycles = 32;
	uneven = 300;
	first_call(&noisy);
	uneven = 0;
	for (i = 0; i < 2 * COUNT(machines); i++) {
		wavers = i % 2;
		now = 5e9 + 1234567.8 * (double)i;
		first_call(&machines[i / 2]);
	}
	away = 3e6;
	draw = 0;
	runs = 0;
	first_call(&busy);
	away = 0;
	ok(!cpuc_clock_rate(&clock_of), "that is known for this selection");
	cpuc_clock_again();
	ok(cpuc_clock_rate(&clock_of), "and found in the next one");
	check_rate();
	return done_testing();
}
