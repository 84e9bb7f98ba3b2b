/* SPDX-License-Identifier: 0BSD */
/* A rival on this thread's CPU that a process on another CPU wakes, again and
 * again, and pieces of work beside it. The wakeup stops the thread's clock, and
 * its interrupt, which stops the thread, comes later: what the thread does
 * meanwhile is hidden from that clock. */
#ifndef WOKEN_H
#define WOKEN_H

#include "load.h"

#include <sys/eventfd.h>
#include "tools/common/known.h"

#define WOKEN_RUNS 2e4  /* ns that the rival runs, once woken: */
#define WOKEN_EVERY 128 /* us, at most, and what a sleep takes */

enum woken_how { WOKEN_ORDINARY, WOKEN_FIFO };

static struct {
	int rivals_cpu, wakers_cpu, event;
	pid_t rival, waker;
	volatile bool *awake; /* whether the waker wakes anybody */
} woken;

static inline void woken_rival(void)
{
	uint64_t n;
	double end;

	if (read(woken.event, &n, sizeof n) < 0)
		_exit(1);
	end = wall_ns() + WOKEN_RUNS;
	while (wall_ns() < end)
		;
}

/* It runs in real time if it may, whatever the rival does, and mostly sleeps.
 */
static inline void woken_waker(void)
{
	static unsigned random = 1;
	static bool there;
	const uint64_t one = 1;

	if (!there && affinity_pin(woken.wakers_cpu) != 0)
		_exit(1);
	there = true;
	random = random * 1103515245 + 12345;
	usleep(*woken.awake ? 20 + (random >> 16) % WOKEN_EVERY : 1000);
	if (*woken.awake && write(woken.event, &one, sizeof one) < 0)
		_exit(1);
}

/* NULL, or why there can be none. The thread stays on this CPU. */
static inline const char *woken_begin(void)
{
	struct affinity may;

	if (!known_usable())
		return "no chain of known length";
	woken.rivals_cpu = affinity_here();
	if (woken.rivals_cpu < 0 || affinity_get(&may) != 0)
		return "nothing tells which CPUs there are";
	woken.wakers_cpu = affinity_next(&may, -1);
	if (woken.wakers_cpu == woken.rivals_cpu)
		woken.wakers_cpu = affinity_next(&may, woken.wakers_cpu);
	if (woken.wakers_cpu < 0)
		return "there is one CPU";
	if (affinity_pin(woken.rivals_cpu) != 0)
		return "a thread cannot choose its CPU";
	woken.event = eventfd(0, 0);
	woken.awake = shared(sizeof *woken.awake);
	woken.rival = load_rival(woken_rival);
	woken.waker = load_rival(woken_waker);
	return woken.rival > 0 && woken.waker > 0 ? NULL : "no processes";
}

static inline void woken_end(void)
{
	load_rival_end(woken.waker);
	load_rival_end(woken.rival);
}

static inline int woken_become(pid_t pid, enum woken_how how)
{
	struct sched_param p = {.sched_priority = how == WOKEN_FIFO};

	return sched_setscheduler(
		pid, how == WOKEN_FIFO ? SCHED_FIFO : SCHED_OTHER, &p);
}

/* How the rival runs from now on. False: it may not run so. */
static inline bool woken_set(enum woken_how how)
{
	woken_become(woken.waker, WOKEN_FIFO);
	return woken_become(woken.rival, how) == 0;
}

/* A piece of work: its turns; a sleep of so many ns in its midst; and how many
 * calls are before it, with a microsecond's work each. */
struct woken_piece {
	unsigned long turns;
	long sleep;
	unsigned before;
};

/* What was counted of it, and what the thread's clock shows, in ns. */
struct woken_took {
	double counted, own;
};

static inline double woken_cycles(const struct woken_piece *p)
{
	return (double)(p->turns * known->turn);
}

static inline struct woken_took woken_work(const struct woken_piece *p)
{
	const struct timespec sleep = {0, p->sleep};
	/* Reading it would charge the thread, and hide less of a sleep. */
	const double own = p->sleep > 0 ? 0 : ran_ns();
	long long begin, end;
	unsigned i;

	for (i = 0; i < p->before; i++) {
		known->loop(10);
		cpucycles();
	}
	begin = cpucycles();
	known->loop(p->turns - p->turns / 2);
	if (p->sleep > 0)
		nanosleep(&sleep, NULL);
	known->loop(p->turns / 2);
	end = cpucycles();
	return (struct woken_took){(double)(end - begin),
				   p->sleep > 0 ? 0 : ran_ns() - own};
}

#endif
