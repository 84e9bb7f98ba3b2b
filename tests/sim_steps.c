/* SPDX-License-Identifier: 0BSD */
/* Signal handlers that count at every 79th instruction of a calibrated count
 * and its measurement, or as often as STRIDE in the environment says, on a
 * pretended machine: no later call counts less. */
#include <config.h>
#include "tap.h"
#if defined __linux__ && defined __x86_64__
#include "stepped_count.h"

static volatile int low, high;

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

/* Its last count closes the interval that it went on in, if it did. */
static void waiting_before(void)
{
	waiting();
	count();
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

/* More often than there are values of the word; and another ratio was measured
 * last. */
static void wrapping(void)
{
	int i;

	for (i = 0; i < CPUC_RSEQ_SECTIONS; i++) {
		cpuc_own_count.due = 0;
		count();
	}
	if (!cpuc_guard_inside)
		cpuc_own_count.ratio.estimate += cpuc_own_count.ratio.estimate / 2;
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
	long long begun;
	long step, all = 0;
	uint64_t base;

	back = high = 0;
	for (step = 1;; step++) {
		begin(wrapping, 2, 2);
		base = given;
		begun = ticks;
		/* The latest of many counts in a long interval: no count of the
		 * handler's is above. */
		pass(HZ / 250);
		cpuc_own_count.due = HZ;
		cpuc_own_count.last = (uint32_t)ticks;
		if (!one_count(1, step))
			break;
		count();
		/* The new ratio is for what the handler took, a small part. */
		high |= given - base > (uint64_t)(ticks - begun) * 5 / 2;
		all++;
	}
	ok(!back && !high && all > 10,
	   "a handler that arms the word %d times, at %ld "
	   "instructions%s",
	   CPUC_RSEQ_SECTIONS, all, high ? ": counts are too high" : "");
}

static bool one_step(void)
{
	return at_step(quick, 2, 1, 2);
}

int main(void)
{
	steps_begin(one_step);
	/* 1 in make check-long */
	if (getenv("STRIDE") != NULL)
		stride = atoi(getenv("STRIDE"));
	if (cpuc_rseq_own() == NULL) {
		skip("no word here that tells of interruptions");
	} else {
		all_each("");
		at_same_word();
	}
	without = true;
	all_each("without a word: ");
	at_each("without a word: ", "a handler that waits between its counts",
		waiting_before);
	return done_testing();
}
#else
SKIPPED_MAIN("single steps are known for x86-64 Linux alone")
#endif
