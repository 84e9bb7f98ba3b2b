/* SPDX-License-Identifier: 0BSD */
/* Measures what disturbs timings here now.
 *
 * Gaps in the thread's time come first. After that work of two kinds is timed
 * in many short windows, by the clock and by the counter in use. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include "cpucycles.h"
#include "noise.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/stats.h"
#include "../common/tool.h"

/* A window is long enough for a count or a clock in steps of 10 ns to show
 * 0.1%, and so short that most are not interrupted. */
#define WINDOW_NS 10000
#define HALF 500 /* windows of each of two kinds, in turn: a batch */
#define BATCHES 64

/* Of so many windows the shortest tells the rate: hardly all are interrupted.
 */
#define GROUP 8
#define GROUPS (BATCHES * HALF / GROUP)
#define LEVEL 0.01 /* seconds: a rate with shorter levels wanders */

/* The distance of the quartiles, of the median. Sorts the values. */
static double noise_scatter(long long *values, int n)
{
	long long median = stats_median(values, n);

	return (double)(stats_quantile(values, n, 3, 4) -
			stats_quantile(values, n, 1, 4)) /
	       (double)(median > 0 ? median : 1);
}

/* The difference that 19 of 20 pairs do not exceed; not the largest, since one
 * disturbed batch of 64 would decide it. All pairs, not only neighbours:
 * medians that users compare were seldom taken at the same moment. A count
 * cannot resolve less than its step, even if all medians agree. Rounded up to
 * the printed precision, so that the exit status agrees with that. Sorts the
 * medians. */
static int noise_apart(long long median[BATCHES], long long step)
{
	static long long apart[BATCHES * (BATCHES - 1) / 2];
	long long typical = stats_median(median, BATCHES), most;
	int i, k, pairs = 0;

	for (i = 0; i < BATCHES; i++)
		for (k = 0; k < i; k++)
			apart[pairs++] = median[i] - median[k];
	stats_sort(apart, pairs);
	most = stats_quantile(apart, pairs, 19, 20);
	most = most > step ? most : step;
	if (typical <= 0 || most >= typical)
		return 10000;
	return (int)((most * 10000 + typical - 1) / typical);
}

/* Fills in what can be seen, from the medians of batches, by a count that has
 * this step. What is timed in turn sees the same rate of the core, but a busy
 * hardware thread beside it slows independent instructions down, to the half,
 * and a chain that waits for its own results hardly. */
static void noise_verdict(struct noise *n, long long chain[BATCHES],
			  long long wide[BATCHES], long long step)
{
	long long scaled[BATCHES], typical;
	int i, apart;

	memcpy(scaled, chain, sizeof scaled);
	typical = stats_median(scaled, BATCHES);
	for (i = 0; i < BATCHES; i++)
		scaled[i] = wide[i] * typical / (chain[i] > 0 ? chain[i] : 1);
	n->visible = noise_apart(scaled, step);
	apart = noise_apart(wide, step);
	n->apart = noise_apart(chain, step);
	n->apart = n->apart > apart ? n->apart : apart;
	n->coarse = typical <= 0 || step * 10000 > typical * NOISE_LIMIT;
}

/* A window's work. */
typedef void noise_work(unsigned long turns);

/* The turns that take as long as a window should. */
static unsigned long noise_turns(noise_work *work)
{
	unsigned long turns = 1;
	long long ns, best = 0;
	int i;

	for (; best < WINDOW_NS / 2; turns *= 2)
		for (i = 0, best = WINDOW_NS; i < 5; i++) {
			ns = tool_ns();
			work(turns);
			ns = tool_ns() - ns;
			best = ns < best ? ns : best;
		}
	return turns / 2 * WINDOW_NS / (unsigned long)best;
}

static long long noise_count(noise_work *work, unsigned long turns)
{
	long long count = -cpucycles();

	work(turns);
	return count + cpucycles();
}

/* The core's rate, by the shortest windows. */
static struct noise_rate {
	struct rate_steps steps;
	long long begun[GROUPS];  /* ns: when each one's first window began */
	long long length[GROUPS]; /* ns: each one's shortest window */
	long long grain;          /* ns: the clock's */
	int groups, windows;      /* complete; in the last one */
} noise_rate;

static void noise_rate_add(struct noise_rate *r, long long begun, long long ns)
{
	long long *least = &r->length[r->groups];

	if (r->windows == 0)
		r->begun[r->groups] = begun;
	if (r->windows == 0 || ns < *least)
		*least = ns;
	if (++r->windows < GROUP)
		return;
	rate_steps_add(&r->steps, r->begun[r->groups], *least, r->grain);
	r->windows = 0;
	r->groups++;
}

/* By how much it changes in so many ns, in 19 of 20 cases; < 0: unknown. */
static double noise_rate_change(const struct noise_rate *r, long long apart)
{
	static long long change[GROUPS];
	int i, k = 0, n = 0;

	for (i = 0; i < r->groups; i++) {
		while (k < r->groups && r->begun[k] - r->begun[i] < apart)
			k++;
		if (k < r->groups && r->begun[k] - r->begun[i] < 2 * apart)
			change[n++] = llabs(r->length[k] - r->length[i]) *
				      1000000 / r->length[i];
	}
	if (n == 0)
		return -1;
	stats_sort(change, n);
	return (double)stats_quantile(change, n, 19, 20) / 1e6;
}

/* Steps between levels that last; where there are none, how it wanders. */
static void noise_rate_sum(struct noise *n, struct noise_rate *r)
{
	n->steps = rate_steps_sum(&r->steps);
	if (n->steps.persecond == 0)
		n->steps.size = n->steps.lasted = -1;
	else if (n->steps.lasted < LEVEL)
		n->steps = (struct rate_summary){-1, -1, -1};
	n->wander[0] = noise_rate_change(r, 1000000);
	n->wander[1] = noise_rate_change(r, 10000000);
}

/* Both kinds of work in turn; the chain by the clock, too. */
static void noise_windows(struct noise *n)
{
	static long long chain[HALF], wide[HALF], ns[HALF];
	long long chains[BATCHES], wides[BATCHES], scatter[BATCHES], begin;
	noise_work *const links = known_usable() ? known[0].loop : loop;
	const unsigned long turns = noise_turns(links),
			    loops = noise_turns(loop);
	struct cpucycles_counter c = {.step = 0};
	int b, i;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	noise_rate.grain = rate_steps_grain(tool_ns);
	for (b = 0; b < BATCHES; b++) {
		for (i = 0; i < HALF; i++) {
			wide[i] = noise_count(loop, loops);
			begin = tool_ns();
			chain[i] = noise_count(links, turns);
			ns[i] = tool_ns() - begin;
			noise_rate_add(&noise_rate, begin, ns[i]);
		}
		chains[b] = stats_median(chain, HALF);
		wides[b] = stats_median(wide, HALF);
		scatter[b] = (long long)(noise_scatter(ns, HALF) * 1e6);
	}
	noise_rate_sum(n, &noise_rate);
	noise_verdict(n, chains, wides, c.step);
	n->dither = (double)stats_median(scatter, BATCHES) / 1e6;
	n->worst = (double)scatter[BATCHES - 1] / 1e6;
}

void noise_measure(struct noise *n)
{
	struct system_time before, after;
	long long hz;

	*n = (struct noise){.steal = -1};
	system_time("", &before);
	calls_gaps(n->gaps);
	noise_windows(n);
	hz = cpucycles_observepersecond();
	n->hz = hz > 0 ? (double)hz : -1;
	if (system_time("", &after) == 0)
		n->steal = (double)(after.stolen - before.stolen) /
			   (double)(after.busy > before.busy
					    ? after.busy - before.busy
					    : 1);
	system_read("", affinity_here(), &n->system);
}
