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

#define WOKEN_RUNS 2e4 /* ns that the rival runs, once woken */

enum woken_how { WOKEN_ORDINARY, WOKEN_FIFO };

static struct {
	int rivals_cpu, wakers_cpu, event;
	pid_t rival, waker;
	/* What the waker reads: whether it is to look, how often the rival was
	 * to be woken, and how many ns after that was asked for. */
	struct woken_wish {
		volatile bool awake;
		volatile unsigned asked;
		volatile double after;
	} * wish;
} woken;

static inline void woken_spin(double ns)
{
	const double end = wall_ns() + ns;

	while (wall_ns() < end)
		;
}

static inline void woken_rival(void)
{
	uint64_t n;

	if (read(woken.event, &n, sizeof n) < 0)
		_exit(1);
	woken_spin(WOKEN_RUNS);
}

/* It must not be late, and so runs in real time if it may, whatever the rival
 * does; but no longer than it must. */
static inline void woken_waker(void)
{
	static unsigned done;
	static bool there;
	const uint64_t one = 1;

	if (!there && affinity_pin(woken.wakers_cpu) != 0)
		_exit(1);
	there = true;
	if (!woken.wish->awake)
		usleep(1000);
	if (done == woken.wish->asked)
		return;
	done = woken.wish->asked;
	woken_spin(woken.wish->after);
	if (write(woken.event, &one, sizeof one) < 0)
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
	woken.wish = shared(sizeof *woken.wish);
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
	woken.wish->awake = true;
	usleep(2000);
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

/* The rival is woken so many ns after the beginning. */
static inline struct woken_took woken_work(const struct woken_piece *p,
					   double after)
{
	const struct timespec sleep = {0, p->sleep};
	/* Reading it would charge the thread, and hide less of a sleep. */
	const double own = p->sleep > 0 ? 0 : ran_ns();
	long long begin, end;
	unsigned i;

	if (after >= 0) {
		woken.wish->after = after;
		woken.wish->asked++;
	}
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
