/* SPDX-License-Identifier: 0BSD */
/* A calibrated count, which this includes, on a pretended machine on x86-64
 * Linux: a signal handler counts at any instruction of it. */
#ifndef STEPPED_COUNT_H
#define STEPPED_COUNT_H

#include <config.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "system/rseq.h"
#include "system/scheduling.h"

/* The word is the real one, none, or one that steps do not clear; the thread's
 * clock and its switches are pretended. */
static bool without, pretended;
static cpuc_rseq_word pretended_word;
static unsigned waits;

static cpuc_rseq_word *word_or_none(void)
{
	if (pretended)
		return &pretended_word;
	return without ? NULL : cpuc_rseq_own();
}

static bool fake_switches(struct cpuc_switches *n)
{
	*n = (struct cpuc_switches){waits, 0};
	return true;
}

/* Another CPU would take a count another way. */
static uint32_t same_cpu(void)
{
	return 0;
}

#define cpuc_rseq_own word_or_none
#define cpuc_thread_cpu same_cpu
#define cpuc_thread_switches fake_switches
#define cpuc_os_clock_thread fake_thread
#include "../src/calibrated/count.c"
#include "../src/calibrated/thread_clock.c"
#include "system/probe.h"
#include "tap.h"
#include "thread/guard.h"
#include "thread/marks.h"
#include "single_steps.h"

#define HZ 2596000000
#define LATE (HZ / 10) /* a measurement that old is taken over */

/* The machine: a core of twice or three times the clock's rate. */
static long long ticks, ran; /* of which the thread ran for so many */
static unsigned rate;

/* How many ticks are read until steps begin, which end at the next tick, and
 * what a handler then does. */
static volatile long first;
static void (*volatile act)(void);

/* Time passes in one instruction. */
static long long pass(long long n)
{
	__atomic_add_fetch(&ran, n, __ATOMIC_RELAXED);
	return __atomic_add_fetch(&ticks, n, __ATOMIC_RELAXED);
}

static long long fake_tick(void)
{
	long long tick = pass(26);

	if (first < 0)
		steps = 0;
	else if (first > 0 && --first == 0) {
		first = -1;
		__asm__ volatile("int3");
	}
	return tick;
}

uint64_t fake_thread(uint64_t hz)
{
	pass(26);
	return 1 + (uint64_t)__atomic_load_n(&ran, __ATOMIC_RELAXED) *
			   (hz / 1000000) / (HZ / 1000000);
}

static uint64_t run(uint32_t links)
{
	pass(links / rate);
	return (uint64_t)fake_tick();
}

static void window(uint32_t turns, uint64_t stamp[3])
{
	stamp[0] = run(64);
	stamp[1] = run(64 * turns);
	stamp[2] = run(512 * turns);
}

static void glimpse(uint32_t turns, uint64_t stamp[2])
{
	stamp[0] = run(64);
	stamp[1] = run(64 * turns);
}

static const struct cpuc_chain chains[] = {{window, glimpse, 64, "one"}};
static const struct cpuc_chain_ops ops = {.chain = chains, .nchains = 1};
static struct cpuc_clock clock_of = {
	.tick = fake_tick, .chains = &ops, .hz = HZ};

static volatile uint64_t given; /* the most that a call has returned */
static volatile int back;

static void count(void)
{
	uint64_t before = given, n = cpuc_count(fake_tick);

	if (n < before)
		back = 1;
	if (n > given)
		given = n;
}

static void stepped(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (!steps_made(context))
		return;
	first = 0;
	act();
	steps = 0;
}

/* A count with a handler so many steps after a tick is read. False if the next
 * tick is read before, or the count is at its end. */
static bool one_count(long tick, long step)
{
	bool acted;

	steps = step;
	first = tick;
	count();
	acted = first == 0 && steps == 0;
	first = steps = 0;
	return acted;
}

__attribute__((unused)) static void begin(void (*what)(void), unsigned before,
					  unsigned after)
{
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
	ticks = ran = HZ;
	given = 0;
	rate = before;
	count();
	pass(LATE);
	count();
	/* A count that the fast path gives. */
	pass(50000);
	count();
	rate = after;
	act = what;
}

/* Skips all tests unless this one step can be made. */
static void steps_begin(bool (*one)(void))
{
	struct sigaction sa = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};
	const struct cpuc_counter counter = {.kind = CPUC_CALIBRATED,
					     .clock = &clock_of};
	struct cpuc_slot slot = {.counter = &counter};

	if (SANITIZED)
		skip_all("a sanitizer makes too many steps");
	cpuc_process_prepare();
	cpuc_probe_begin();
	cpuc_rseq_prepare();
	cpuc_probe_end();
	sigaction(SIGTRAP, &sa, NULL);
	rate = 2;
	if (cpuc_calibrate(&slot) != 0) {
		ok(0, "calibrates: %s", slot.trial.reason);
		exit(done_testing());
	}
	/* The real one was compared. */
	cpuc_calibration.thread_clock = true;
	/* A few of the many windows at the end of a long interval show it all.
	 */
	cpuc_calibration.window_ticks = COUNT_RAMP / 8;
	if (!steps_work(one))
		skip_all("no single steps here");
}

#endif
