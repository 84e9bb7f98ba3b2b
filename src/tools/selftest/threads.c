/* SPDX-License-Identifier: 0BSD */
/* Do other threads count, and as the first does? */
#include <config.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include "selftest.h"

#define TOGETHER 4 /* threads that make their first calls at one moment */
#define BRIEF 100  /* threads that count a little and end */
#define CALLS 10000

struct worker {
	const struct selftest *self;
	pthread_t id;
	struct selftest_rate rate;
	long long back; /* counts that were below the one before */
	bool measured;  /* rate is */
	bool still;     /* the count does not advance */
};

static int gate; /* workers begin when it is 1 */

static void *count_together(void *arg)
{
	struct worker *w = arg;
	long long last, now;
	int i;

	while (!__atomic_load_n(&gate, __ATOMIC_ACQUIRE))
		sched_yield();
	last = cpucycles();
	for (i = 0; i < CALLS; i++) {
		now = cpucycles();
		w->back += now < last;
		last = now;
	}
	w->still = selftest_await(last) <= last;
	if (!w->still)
		w->measured =
			selftest_rate(w->self, w->self->ms / 20, &w->rate);
	return NULL;
}

static void *count_briefly(void *arg)
{
	struct worker *w = arg;
	long long first = cpucycles();

	w->still = selftest_await(first) <= first;
	return NULL;
}

/* How many of the brief threads found the count standing still; -1 when there
 * can be no threads. One that stands still is enough. */
static int brief_threads(struct worker *w)
{
	int i;

	for (i = 0; i < BRIEF; i++) {
		memset(w, 0, sizeof *w);
		if (pthread_create(&w->id, NULL, count_briefly, w) != 0)
			return -1;
		pthread_join(w->id, NULL);
		if (w->still)
			return 1;
	}
	return 0;
}

/* How many threads there were. */
static int together(struct worker *w, const struct selftest *self)
{
	int n, i;

	gate = 0;
	memset(w, 0, TOGETHER * sizeof *w);
	for (n = 0; n < TOGETHER; n++) {
		w[n].self = self;
		if (pthread_create(&w[n].id, NULL, count_together, &w[n]) != 0)
			break;
	}
	__atomic_store_n(&gate, 1, __ATOMIC_RELEASE);
	for (i = 0; i < n; i++)
		pthread_join(w[i].id, NULL);
	return n;
}

static enum outcome judge(struct selftest *self, const struct worker *w)
{
	double low = 1e9, high = 0, ratio;
	int i;

	for (i = 0; i < TOGETHER; i++) {
		if (w[i].still)
			return selftest_say(self, BAD,
					    "the count stands still in a "
					    "thread");
		if (w[i].back)
			return selftest_say(self, BAD,
					    "%lld of %d counts in a thread "
					    "were below the one before",
					    w[i].back, CALLS);
		if (!w[i].measured)
			continue;
		ratio = (double)w[i].rate.ppm / (double)self->base_ppm;
		low = ratio < low ? ratio : low;
		high = ratio > high ? ratio : high;
		if (!selftest_same(self, &w[i].rate))
			return selftest_say(self, OFF,
					    "a thread counts at %.2f%% of the "
					    "first thread's rate",
					    ratio * 100);
	}
	if (high == 0)
		return selftest_say(self, SKIPPED,
				    "%d threads count, but their rate cannot "
				    "be measured",
				    TOGETHER);
	return selftest_say(self, GOOD,
			    "%d threads count at once, at %.2f%% to %.2f%% of "
			    "the first thread's rate, and %d one by one",
			    TOGETHER, low * 100, high * 100, BRIEF);
}

enum outcome selftest_threads(struct selftest *self)
{
	struct worker w[TOGETHER];
	int still;

	if (!selftest_base(self))
		return selftest_say(self, SKIPPED,
				    "the core's rate cannot be measured");
	still = brief_threads(w);
	if (still > 0)
		return selftest_say(self, BAD,
				    "the count stands still in a new thread");
	if (still < 0 || together(w, self) < TOGETHER)
		return selftest_say(self, SKIPPED, "no threads can be made");
	return judge(self, w);
}
