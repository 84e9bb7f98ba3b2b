/* SPDX-License-Identifier: 0BSD */
/* Waiting for the engine's lock: in turn, and not for the dead. */
#include "faults/faults.h"

#include "tools/common/affinity.h"

/* Four threads select again and again. */
enum { OTHERS = 4 };
static pthread_t others[OTHERS];
static int stop, selections;

static void *selecting(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		cpucycles_select(NULL);
		__atomic_fetch_add(&selections, 1, __ATOMIC_RELAXED);
	}
	return arg;
}

static int others_begin(void)
{
	int i;

	cpucycles();
	for (i = 0; i < OTHERS; i++)
		if (pthread_create(&others[i], NULL, selecting, NULL) != 0)
			return CANNOT;
	return 0;
}

static void others_end(void)
{
	int i;

	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < OTHERS; i++)
		pthread_join(others[i], NULL);
}

static int ascending(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Each of the others is ahead of this thread once at most; they may select
 * before it asks, and before it has seen how often they did. On one CPU it
 * finds the lock held: on several it may be lucky. In their midst children
 * count, too. */
static int in_turn(void)
{
	enum { TIMES = 21, MOST = 5 * OTHERS };
	int waited[TIMES], i, before, bad = SANITIZED ? CANNOT : 0;

	affinity_pin(affinity_here());
	if (bad == 0)
		bad = others_begin();
	for (i = 0; i < TIMES && bad == 0; i++) {
		bad = in_child(selects_and_counts);
		before = __atomic_load_n(&selections, __ATOMIC_RELAXED);
		cpucycles_select(NULL);
		waited[i] =
			__atomic_load_n(&selections, __ATOMIC_RELAXED) - before;
	}
	if (bad != 0)
		return bad;
	others_end();
	qsort(waited, TIMES, sizeof *waited, ascending);
	printf("# %d selections of others, at most %d\n", waited[TIMES / 4],
	       MOST);
	fflush(stdout);
	return waited[TIMES / 4] > MOST;
}

#ifdef HAVE_LINUX_FILTER_H
/* Ends when it waits. */
static void *dying(void *through)
{
	*(int *)through = 1;
	if (deny(SYS_sched_yield, SECCOMP_RET_KILL) != 0)
		return NULL;
	cpucycles_select(NULL);
	*(int *)through = 2;
	return NULL;
}

/* Its turn never comes. */
static int dies_in_turn(void)
{
	int i, through = 2, bad = SANITIZED ? CANNOT : others_begin();
	pthread_t id;

	if (bad == 0 && in_child(emulated) != 0)
		bad = CANNOT;
	for (i = 0; bad == 0 && through == 2 && i < 1000; i++) {
		if (pthread_create(&id, NULL, dying, &through) != 0)
			return CANNOT;
		pthread_join(id, NULL);
	}
	if (bad == 0) {
		bad = cpucycles_select(NULL) != 0 || through != 1;
		others_end();
	}
	return bad;
}
#else
static int dies_in_turn(void)
{
	return CANNOT;
}
#endif

int main(void)
{
	point("a selection waits for no more than a turn of each other thread",
	      in_turn, "sanitizers are in the way");
	point("a thread is killed as it waits: others select", dies_in_turn,
	      "no thread can be killed alone here");
	return done_testing();
}
