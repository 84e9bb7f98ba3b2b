/* SPDX-License-Identifier: 0BSD */
/* How long a thread waits for the engine's lock, on pretended time: others hold
 * it, in turn, and ask for it again; or the one whose turn it is has died.
 * lock.c is included, as its queue is. */
#include <config.h>
#ifndef _WIN32
#include "tap.h"

#define cpuc_sys_sleep pretended_sleep
#include "../src/thread/lock.c"

#define WAKE_NS 60000 /* later than asked for, as Linux wakes a thread */
#define MOST_MS 20
#define NEVER 100000000000

static uint64_t now, until; /* when the holder is done, or the next takes it */
static uint64_t held, late; /* how long by each, and how late that begins */
static unsigned mine, naps;
static bool in_turn; /* this thread took it */

/* The holder is done, and asks again; or the next takes the lock. */
static void change(void)
{
	if (lock_holder & LOCK_FREE) {
		lock_holder &= ~LOCK_FREE;
		until += held;
		return;
	}
	lock_turn++;
	lock_next++;
	lock_holder |= LOCK_FREE;
	until += late;
}

static void pass(uint64_t ns)
{
	now += ns;
	while (now >= until && lock_turn != mine)
		change();
	if (now > NEVER)
		exit(!ok(0, "a thread waits for one that has died"));
}

void pretended_sleep(long ns)
{
	naps++;
	pass((uint64_t)ns + WAKE_NS);
}

/* How many ms this thread waits behind so many others. */
static double wait_behind(unsigned others, uint64_t ns, uint64_t late_ns)
{
	const uint64_t begun = now;
	struct cpuc_caller caller;

	held = ns;
	late = late_ns;
	naps = 0;
	until = now + held;
	lock_turn = mine + 1;
	lock_next = mine = lock_turn + others;
	lock_holder = lock_process((int)getpid());
	cpuc_lock(&caller);
	in_turn = lock_turn == mine;
	cpuc_unlock(&caller);
	return (double)(now - begun) / 1e6;
}

int main(void)
{
	static const struct {
		unsigned others;
		uint64_t ns, late;
	} rows[] = {{1, 50000, 0},
		    {4, 50000, 0},
		    {2, 3000000, 3000000},
		    {4, 3000000, 0},
		    {40, 50000, 0}};
	double ms;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		ms = wait_behind(rows[i].others, rows[i].ns, rows[i].late);
		ok(bounded(0, ms, MOST_MS, "ms") && in_turn,
		   "behind %u others, each for %.2f ms: in turn, %.2f ms",
		   rows[i].others, (double)rows[i].ns / 1e6, ms);
	}
	ms = wait_behind(4, 50000, NEVER);
	ok(1, "the next one is dead: %.2f ms", ms);
	ms = wait_behind(40, 3000000, 0);
	ok(bounded(0, naps, ms, "it leaves the holder little of a slow CPU"),
	   "behind 40, each for 3 ms: it wakes %u times in %.0f ms", naps, ms);
	return done_testing();
}
#else
#include "tap.h"

SKIPPED_MAIN("Windows has a queue of its own")
#endif
