/* SPDX-License-Identifier: 0BSD */
/* Signals at each instruction of a calibrated count that changes its state, in
 * the guard, too: the handler of a fault counts, or the thread is only told. */
#include <config.h>
#include "tap.h"
#if defined __linux__ && defined __x86_64__
#include "stepped_count.h"

#define TIMES 1000 /* more than a count has cycles between two ticks */

static void quick(void)
{
	count();
	pass(20000);
	count();
}

static void often(void)
{
	int i;

	for (i = 0; i < TIMES; i++)
		count();
}

static void tell(void)
{
	raise(SIGUSR1);
}

/* The kernel has cleared the word. */
static void be_told(int sig)
{
	(void)sig;
	pretended_word = 0;
}

/* A thread that has not counted. */
static void fresh(void)
{
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
	ticks = ran = HZ;
	given = 0;
	rate = 2;
}

static uint32_t told; /* interruptions that cleared the word before */

/* One whose next count closes the interval at once, without a measurement. */
static void closing(void)
{
	begin(NULL, 2, 2);
	told = cpuc_own_count.interruptions;
	cpuc_own_count.due = 0;
	cpuc_own_count.unread = (uint32_t)COUNT_CLOCK_EVERY;
}

static long places, bad; /* where handlers came, and where that was a mistake */

/* One count, with a handler there. Whether it came. */
static bool at(long tick, long step, void (*prepare)(void), void (*what)(void),
	       bool asks)
{
	bool acted;

	prepare();
	back = 0;
	act = what;
	acted = one_count(tick, step);
	count();
	if (!acted)
		return false;
	bad += asks ? cpuc_own_count.interruptions == told : back;
	places++;
	return true;
}

static void at_each(const char *name, void (*prepare)(void), void (*what)(void),
		    bool asks)
{
	long tick, step;

	places = bad = 0;
	for (tick = 1; at(tick, 1, prepare, what, asks); tick++)
		for (step = 2; at(tick, step, prepare, what, asks); step++)
			;
	/* There is an instruction between two ticks. */
	ok(bad == 0 && places > 2 * (tick - 1), "%s: %ld of %ld instructions",
	   name, bad, places);
}

static bool one_step(void)
{
	return at(1, 2, fresh, quick, false);
}

int main(void)
{
	signal(SIGUSR1, be_told);
	steps_begin(one_step);
	if (cpuc_rseq_own() == NULL)
		skip("no word here that tells of interruptions");
	else
		at_each("counts go back after a handler in a thread's first "
			"count",
			fresh, quick, false);
	without = true;
	at_each("without a word", fresh, quick, false);
	at_each("counts go back after a handler that counts 1000 times",
		closing, often, false);
	pretended = true;
	at_each("a thread is not told of a signal", closing, tell, true);
	return done_testing();
}
#else
SKIPPED_MAIN("single steps are known for x86-64 Linux alone")
#endif
