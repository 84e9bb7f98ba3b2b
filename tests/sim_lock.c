/* SPDX-License-Identifier: 0BSD */
/* How long a thread waits for the engine's lock, on pretended time: others hold
 * it, in turn, and ask for it again. lock.c is included, as its queue is. */
#include <config.h>
#ifndef _WIN32
#include <sched.h>
#include "tap.h"

/* A macro on NetBSD. */
#undef sched_yield
#define sched_yield pretended_yield
#define cpuc_sys_sleep pretended_sleep
static int pretended_yield(void);
#include "../src/thread/lock.c"

#define YIELD_NS 1000
#define WAKE_NS 60000 /* later than asked for, as Linux wakes a thread */
#define MOST_MS 20

static uint64_t now, until; /* when the holder is done */
static uint64_t held;       /* by each for so long */
static unsigned mine, naps;

/* The holder is done, and asks again. The next takes the lock at once. */
static void release(void)
{
	lock_turn++;
	lock_next++;
	until += held;
	if (lock_turn == mine)
		lock_holder |= LOCK_FREE;
}

static void pass(uint64_t ns)
{
	now += ns;
	while (now >= until && lock_turn != mine)
		release();
}

static int pretended_yield(void)
{
	pass(YIELD_NS);
	return 0;
}

void pretended_sleep(long ns)
{
	naps++;
	pass((uint64_t)ns + WAKE_NS);
}

/* How many ms this thread waits behind so many others. */
static double wait_behind(unsigned others, uint64_t ns)
{
	const uint64_t begun = now;
	struct cpuc_caller caller;

	held = ns;
	naps = 0;
	until = now + held;
	lock_turn = mine + 1;
	lock_next = mine = lock_turn + others;
	lock_holder = lock_process((int)getpid());
	cpuc_lock(&caller);
	cpuc_unlock(&caller);
	return (double)(now - begun) / 1e6;
}

int main(void)
{
	static const struct {
		unsigned others;
		uint64_t ns;
	} rows[] = {{1, 50000}, {4, 50000}, {4, 3000000}, {40, 50000}};
	double ms;
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++) {
		ms = wait_behind(rows[i].others, rows[i].ns);
		ok(bounded(0, ms, MOST_MS, "ms"),
		   "behind %u others, each for %.2f ms: %.2f ms",
		   rows[i].others, (double)rows[i].ns / 1e6, ms);
	}
	ms = wait_behind(40, 3000000);
	ok(bounded(0, naps, ms, "it leaves the holder little of a slow CPU"),
	   "behind 40, each for 3 ms: it wakes %u times in %.0f ms", naps, ms);
	return done_testing();
}
#else
#include "tap.h"

int main(void)
{
	skip_all("Windows has a queue of its own");
}
#endif
