/* SPDX-License-Identifier: 0BSD */
/* How long a thread waits for the engine's lock, on pretended time, while
 * others hold it and ask for it again and again; and how long another waits
 * while this one does. What it keeps for its caller, and that a child takes it
 * over. lock.c is included, as its variables are. */
#include <config.h>
#include "tap.h"
#ifdef _WIN32
SKIPPED_MAIN("Windows has a queue of its own")
#else
#define cpuc_sys_sleep pretended_sleep
#define cpuc_probe_after_fork pretended_after_fork
#include "../src/thread/lock.c"

#define MOST_SHARES 10 /* of the time, if each had it once */
#define MOST_MS 10     /* and in naps */
#define OTHERS_MAX 40
#define NEVER 100000000000

static uint64_t now, held; /* how long by each */

/* Linux wakes a thread later than it asked for. */
static uint64_t nap_ns(void)
{
	return LOCK_NAP_NS + 60000 + now % 50000;
}

static unsigned others, naps, turns, taken_over, shared;

/* When each is done with the lock, or wakes to look at it. */
static uint64_t next[OTHERS_MAX];
static int holder; /* -1: this thread, or nobody */

static void look(int i)
{
	lock_wanted = lock_holder != 0 && !(lock_holder & LOCK_FREE);
	if (!lock_wanted) {
		lock_holder = lock_process((int)getpid());
		holder = i;
		turns++;
	}
	next[i] = now + (lock_wanted ? nap_ns() : held);
}

static void pass(uint64_t ns)
{
	const uint64_t end = now + ns;
	int i, first = 0;

	while (others > 0) {
		for (i = 0; i < (int)others; i++)
			first = next[i] < next[first] ? i : first;
		if (next[first] > end)
			break;
		now = next[first];
		if (first != holder) {
			look(first);
			continue;
		}
		lock_holder |= LOCK_FREE;
		holder = -1;
		if (lock_wanted)
			next[first] = now + nap_ns();
		else
			look(first);
	}
	now = end;
	if (now > NEVER)
		exit(!ok(0, "a thread waits for ever"));
}

void pretended_after_fork(void)
{
	taken_over++;
}

void pretended_sleep(long ns)
{
	naps++;
	pass(ns == LOCK_NAP_NS ? nap_ns() : 0);
}

static void begin(unsigned n, uint64_t ns)
{
	unsigned i;

	others = n;
	held = ns;
	holder = -1;
	lock_wanted = false;
	naps = turns = 0;
	for (i = 0; i < n; i++)
		next[i] = now + 1 + i * UINT64_C(1000000) / n;
}

/* How many ms this thread waits for them. */
static double wait_behind(unsigned n, uint64_t ns)
{
	struct cpuc_caller caller;
	uint64_t begun;

	begin(n, ns);
	pass(5000000);
	naps = 0;
	begun = now;
	cpuc_lock(&caller);
	shared += holder >= 0;
	cpuc_unlock(&caller);
	return (double)(now - begun) / 1e6;
}

/* How many ms another waits for this thread. */
static double wait_for(uint64_t ns)
{
	const uint64_t begun = now, end = begun + UINT64_C(1000000000);
	struct cpuc_caller caller;

	begin(1, ns);
	while (turns == 0 && now < end) {
		cpuc_lock(&caller);
		pass(ns);
		cpuc_unlock(&caller);
	}
	return (double)(now - begun) / 1e6;
}

/* Handlers other than that of SIGSYS cannot run, nor can the thread end. */
static void check_caller(void)
{
	struct cpuc_caller caller, again;
	sigset_t mask, held_mask, after;
	int type, state, held_state;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	errno = EDOM;
	cpuc_lock(&caller);
	errno = 0;
	pthread_sigmask(SIG_BLOCK, NULL, &held_mask);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held_state);
	ok(sigismember(&held_mask, SIGALRM) &&
		   sigismember(&held_mask, SIGTERM) &&
		   sigismember(&held_mask, SIGUSR2) &&
		   !sigismember(&held_mask, SIGSYS) &&
		   held_state == PTHREAD_CANCEL_DISABLE,
	   "who holds it is not cancelled, and SIGSYS alone is not blocked");
	ok(cpuc_lock(&again) == -EDEADLK, "nor gets it a second time");
	cpuc_unlock(&caller);
	ok(errno == EDOM, "errno is as before");
	pthread_sigmask(SIG_BLOCK, NULL, &after);
	pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	ok(sigismember(&after, SIGUSR1) && !sigismember(&after, SIGALRM) &&
		   type == PTHREAD_CANCEL_ASYNCHRONOUS &&
		   state == PTHREAD_CANCEL_ENABLE,
	   "and so are mask and cancelability");
}

/* A child is pretended: it has its parent's holder. */
static void check_child(const char *what)
{
	struct cpuc_caller caller;
	int i;

	begin(0, 0);
	taken_over = 0;
	for (i = 0; i < 2; i++) {
		cpuc_lock(&caller);
		cpuc_unlock(&caller);
	}
	ok(naps == 0 && taken_over == 1,
	   "%s takes it from its parent's holder, once", what);
}

static void check_children(void)
{
	struct cpuc_caller caller;
	const uint32_t *mark;

	lock_holder = ((uintptr_t)getpid() + 1) * 4 + 1;
	check_child("a child");
	cpuc_probe_begin();
	cpuc_lock(&caller);
	cpuc_lock_prepare();
	cpuc_probe_end();
	mark = (const uint32_t *)lock_holder;
	cpuc_unlock(&caller);
	ok(mark == cpuc_process_mark(), "it is held by a mark");
	cpuc_process->mark[cpuc_process_generation % CPUC_MARKS] = 0;
	lock_holder &= ~LOCK_FREE;
	check_child("one of the same process id");
}

int main(void)
{
	static const struct {
		unsigned others;
		uint64_t ns;
	} rows[] = {{1, 50000},
		    {4, 50000},
		    {1, 3000000},
		    {4, 3000000},
		    {40, 50000}};
	struct cpuc_caller caller;
	double ms, most;
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		ms = wait_behind(rows[i].others, rows[i].ns);
		most = (rows[i].others + 1) * (double)rows[i].ns / 1e6;
		most = MOST_SHARES * most + MOST_MS;
		ok(bounded(0, ms, most, "ms"),
		   "behind %u others, each for %.2f ms: %.2f ms",
		   rows[i].others, (double)rows[i].ns / 1e6, ms);
	}
	ms = wait_behind(40, 3000000);
	ok(bounded(0, naps, ms, "it leaves the holder little of a slow CPU"),
	   "behind 40, each for 3 ms: it wakes %u times in %.0f ms", naps, ms);
	for (i = 0; i < 4; i += 2) {
		ms = wait_for(rows[i].ns);
		ok(bounded(0, ms, 2 * MOST_MS, "ms"),
		   "one that asks for it without end, each time for %.2f ms, "
		   "leaves it to another after %.2f ms",
		   (double)rows[i].ns / 1e6, ms);
	}
	begin(0, 0);
	lock_wanted = true;
	for (i = 0; i < 2; i++) {
		cpuc_lock(&caller);
		cpuc_unlock(&caller);
	}
	ok(naps == 1, "one that dies as it waits costs the others a nap");
	ok(shared == 0 && taken_over == 0, "it is never held by two");
	check_caller();
	check_children();
	return done_testing();
}
#endif
