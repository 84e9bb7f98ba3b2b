/* SPDX-License-Identifier: 0BSD */
/* Signal handlers that count at every 79th instruction of a calibrated count
 * and its measurement, or as often as STRIDE in the environment says, on a
 * pretended machine: no later call counts less. */
#include <config.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "system/rseq.h"

/* The word is the real one, or none; the thread's clock and its switches are
 * pretended. */
static bool without;
static unsigned waits;

static cpuc_rseq_word *word_or_none(void)
{
	return without ? NULL : cpuc_rseq_own();
}

static bool fake_switches(struct cpuc_switches *n)
{
	*n = (struct cpuc_switches){waits, 0};
	return true;
}

#define cpuc_rseq_own word_or_none
#define cpuc_rseq_switches fake_switches
#if defined __linux__ && defined __x86_64__
#define cpuc_os_clock_thread fake_thread
#endif
#include "../src/calibrated/count.c"
#include "system/probe.h"
#include "tap.h"
#include "thread/thread.h"

#if defined __linux__ && defined __x86_64__
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
static const struct cpuc_chain_ops ops = {chains, 1, 0};
static struct cpuc_clock clock_of = {
	.tick = fake_tick, .chains = &ops, .hz = HZ};

static volatile uint64_t given; /* the most that a call has returned */
static volatile int back, low, high;

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

static void quick(void)
{
	count();
	pass(rate == 2 ? 20000 : 200000);
	count();
}

static void wait_1ms(void)
{
	waits++;
	ticks += HZ / 1000;
}

/* Its counts close no interval, if it may go on in the one that it finds. The
 * host takes the CPU from it, too shortly for the count to tell. */
static void waiting(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		count();
		pass(2000);
	}
	if (without)
		ticks += 50000;
	count();
	wait_1ms();
}

static void slow(void)
{
	int i;

	pass(LATE);
	for (i = 0; i < 5; i++) {
		count();
		pass(LATE);
	}
	count();
}

/* More often than there are values of the word. */
static void wrapping(void)
{
	int i;

	for (i = 0; i < CPUC_RSEQ_SECTIONS; i++) {
		cpuc_own_count.due = 0;
		count();
	}
}

static void begin(void (*what)(void), unsigned before, unsigned after)
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

/* The rate is twice the clock's at least. */
static void judge(uint64_t base, long long passed)
{
	low |= given - base < (uint64_t)passed * 2 * 9 / 10;
}

/* Goes on for as long as a ratio is in use, and longer, after a wait. */
static void go_on(void)
{
	uint64_t base;
	int i;

	for (i = 0; i < 50; i++) {
		count();
		base = given;
		if (i == 0)
			wait_1ms();
		pass(100000);
		count();
		judge(base, 100000);
	}
}

/* From the last count to the one that handlers interrupt: long, so that it
 * measures, or short, or so that a wait may lie between, or so that it has a
 * glimpse, of a rate that is still the same. */
#define GLIMPSED (HZ / 100000)
static const long long gaps[] = {HZ / 3, 1000, HZ / 1000, GLIMPSED};
static long long gap = HZ / 3;

static bool at_step(void (*what)(void), unsigned before, long tick, long step)
{
	long long begun;
	uint64_t base;
	bool acted;

	begin(what, before, gap == GLIMPSED ? before : 5 - before);
	base = given;
	begun = ticks;
	pass(gap);
	if (gap == GLIMPSED)
		cpuc_own_count.due = GLIMPSED;
	acted = one_count(tick, step);
	count();
	judge(base, gap);
	/* A handler's time may count twice. */
	high |= given - base > (uint64_t)(ticks - begun) * 2 * 3;
	go_on();
	return acted;
}

/* From one step with a handler to the next. The narrowest gap that was ever
 * found was one instruction wide, which is for make check-long to find, but for
 * those after the last tick: in the fast path, and where an interval begins. */
static long stride = 79;

static void at_each(const char *mode, const char *name, void (*what)(void))
{
	long tick, step, by, all = 0;
	unsigned i, before;
	bool last;

	back = low = high = 0;
	for (i = 0; i < 8; i++) {
		gap = gaps[i / 2];
		before = 2 + i % 2;
		for (tick = 1; at_step(what, before, tick, 1); tick++) {
			last = !at_step(what, before, tick + 1, 1);
			for (step = last ? 1 : 1 + (tick + i) % stride;
			     at_step(what, before, tick, step); step += by) {
				by = last && step < stride ? 1 : stride;
				all += by;
			}
		}
	}
	ok(!back && !low && !high && all > 2900,
	   "%s%s, at %ld instructions%s%s%s", mode, name, all,
	   back ? ": counts go back" : "", low ? ": counts are lost" : "",
	   high ? ": counts are too high" : "");
}

static void all_each(const char *mode)
{
	at_each(mode, "a handler that counts twice in 8 or 80 us", quick);
	at_each(mode, "a handler that takes long", slow);
	at_each(mode, "a handler that counts, then waits", waiting);
}

/* A handler in the midst of the fast path after which the word is armed as it
 * was before. */
static void at_same_word(void)
{
	long step, all = 0;

	back = 0;
	for (step = 1;; step++) {
		begin(wrapping, 2, 2);
		/* The latest of many counts in a long interval: no count of the
		 * handler's is above. */
		pass(HZ / 250);
		cpuc_own_count.due = HZ;
		cpuc_own_count.last = (uint32_t)ticks;
		if (!one_count(1, step))
			break;
		count();
		all++;
	}
	ok(!back && all > 10,
	   "a handler that arms the word %d times, at %ld "
	   "instructions",
	   CPUC_RSEQ_SECTIONS, all);
}

static bool one_step(void)
{
	return at_step(quick, 2, 1, 2);
}

int main(void)
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
	/* 1 in make check-long */
	if (getenv("STRIDE") != NULL)
		stride = atoi(getenv("STRIDE"));
	rate = 2;
	if (cpuc_calibrate(&slot) != 0) {
		ok(0, "calibrates: %s", slot.trial.reason);
		return done_testing();
	}
	/* The real one was compared. */
	cpuc_calibration.thread_clock = true;
	/* A few of the many windows at the end of a long interval show it all.
	 */
	cpuc_calibration.window_ticks = COUNT_RAMP / 8;
	if (!steps_work(one_step))
		skip_all("no single steps here");
	if (cpuc_rseq_own() == NULL) {
		skip("no word here that tells of interruptions");
	} else {
		all_each("");
		at_same_word();
	}
	without = true;
	all_each("without a word: ");
	return done_testing();
}
#else
int main(void)
{
	skip_all("single steps are known for x86-64 Linux alone");
}
#endif
