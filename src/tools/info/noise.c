/* SPDX-License-Identifier: 0BSD */
/* Measures what disturbs timings on this machine now.
 *
 * The clock is read in a loop first: where it jumps, the thread did not run. A
 * counter would not do, as some stand still then. After that work of two kinds
 * is timed in many short windows, by the clock and by the counter in use. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls.h"
#include "cpucycles.h"
#include "noise.h"
#include "../common/affinity.h"
#include "../common/known.h"
#include "../common/stats.h"
#include "../common/tool.h"

#define LISTEN_NS 400000000 /* for gaps; but for so many at most, */
#define GAPS 8192
#define GAP_NS 1000 /* as shorter ones may be cache misses */

/* A window is long enough for a count or a clock in steps of 10 ns to show
 * 0.1%, and so short that most are not interrupted. */
#define WINDOW_NS 10000
#define HALF 500 /* windows of each of two kinds, in turn: a batch */
#define BATCHES 64

/* Sums up n gaps within `total` ns. Sorts them. */
static struct noise_gaps noise_sum(long long *ns, int n, long long total)
{
	struct noise_gaps g = {0, 0, -1, -1};
	int i;

	if (n == 0)
		return g;
	g.median = (double)stats_median(ns, n);
	g.longest = (double)ns[n - 1];
	for (i = 0; i < n; i++)
		g.share += (double)ns[i] / (double)total;
	g.persecond = n * 1e9 / (double)total;
	return g;
}

/* The distance of the quartiles, of the median. Sorts the values. */
static double noise_scatter(long long *values, int n)
{
	long long median = stats_median(values, n);

	return (double)(stats_quantile(values, n, 3, 4) -
			stats_quantile(values, n, 1, 4)) /
	       (double)(median > 0 ? median : 1);
}

static long long noise_typical(const long long median[BATCHES])
{
	long long sorted[BATCHES];

	memcpy(sorted, median, sizeof sorted);
	return stats_median(sorted, BATCHES);
}

/* The difference that 19 of 20 pairs do not exceed; not the largest, since one
 * disturbed batch of 64 would decide it. All pairs, not only neighbours:
 * medians that users compare were seldom taken at the same moment. A count
 * cannot resolve less than its step, even if all medians agree. Rounded up to
 * the printed precision, so that the exit status agrees with that. */
static int noise_apart(const long long median[BATCHES], long long step)
{
	static long long apart[BATCHES * (BATCHES - 1) / 2];
	long long typical = noise_typical(median), most;
	int i, k, pairs = 0;

	for (i = 0; i < BATCHES; i++)
		for (k = 0; k < i; k++)
			apart[pairs++] = llabs(median[i] - median[k]);
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
static void noise_verdict(struct noise *n, const long long chain[BATCHES],
			  const long long wide[BATCHES], long long step)
{
	long long scaled[BATCHES], typical = noise_typical(chain);
	int i, apart = noise_apart(wide, step);

	for (i = 0; i < BATCHES; i++)
		scaled[i] = wide[i] * typical / (chain[i] > 0 ? chain[i] : 1);
	n->visible = noise_apart(scaled, step);
	n->apart = noise_apart(chain, step);
	n->apart = n->apart > apart ? n->apart : apart;
	n->coarse = typical <= 0 || step * 10000 > typical * NOISE_LIMIT;
}

static void noise_listen(struct noise *n)
{
	static long long gap[NOISE_PREEMPTION + 1][GAPS];
	long long step = rate_steps_grain(tool_ns), least = 10 * step, now,
		  last, begin;
	long long seen = cpucycles_interruptions(), before = seen;
	int count[NOISE_PREEMPTION + 1] = {0}, kind = NOISE_INTERRUPTS;

	memset(gap, 0, sizeof gap); /* takes the page faults */
	least = least < GAP_NS ? GAP_NS : least;
	begin = last = tool_ns();
	do {
		now = tool_ns();
		if (now - last >= least) {
			seen = cpucycles_interruptions();
			kind = seen != before ? NOISE_PREEMPTION
					      : NOISE_INTERRUPTS;
			before = seen;
			gap[kind][count[kind]++] = now - last - step;
			now = tool_ns();
		}
		last = now;
	} while (now - begin < LISTEN_NS && count[kind] < GAPS);
	for (kind = 0; kind <= NOISE_PREEMPTION; kind++)
		n->gaps[kind] = noise_sum(gap[kind], count[kind], now - begin);
	if (seen < 0)
		n->gaps[NOISE_PREEMPTION] = (struct noise_gaps){-1, -1, -1, -1};
}

/* A window's work. */
struct noise_work {
	void (*loop)(unsigned long turns);
	unsigned long turns;
};

static struct noise_work noise_work(void (*work)(unsigned long turns))
{
	struct noise_work w = {work, 1};
	long long ns, best;
	int i;

	for (;; w.turns *= 2) {
		best = WINDOW_NS;
		for (i = 0; i < 5; i++) {
			ns = tool_ns();
			w.loop(w.turns);
			ns = tool_ns() - ns;
			best = ns < best ? ns : best;
		}
		if (best >= WINDOW_NS / 2)
			break;
	}
	w.turns = w.turns * WINDOW_NS / (unsigned long)best;
	return w;
}

/* Both kinds of work in turn; the chain, the first, by the clock, too. */
static void noise_batch(const struct noise_work w[2], long long cycles[2][HALF],
			long long ns[HALF], struct rate_steps *steps,
			long long grain)
{
	long long begin, *c;
	int i, kind;

	for (i = 0; i < HALF; i++) {
		for (kind = 1; kind >= 0; kind--) {
			c = &cycles[kind][i];
			begin = tool_ns();
			*c = -cpucycles();
			w[kind].loop(w[kind].turns);
			*c += cpucycles();
		}
		ns[i] = tool_ns() - begin;
		rate_steps_add(steps, begin, ns[i], grain);
	}
}

static void noise_windows(struct noise *n)
{
	static long long cycles[2][HALF], ns[HALF];
	static struct rate_steps steps;
	long long median[2][BATCHES], scatter[BATCHES];
	const bool chain = known_usable();
	const struct noise_work work[2] = {
		noise_work(chain ? known[0].loop : loop), noise_work(loop)};
	const long long grain = rate_steps_grain(tool_ns);
	struct cpucycles_counter c = {.step = 0};
	int b;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	for (b = 0; b < BATCHES; b++) {
		noise_batch(work, cycles, ns, &steps, grain);
		median[0][b] = stats_median(cycles[0], HALF);
		median[1][b] = stats_median(cycles[1], HALF);
		scatter[b] = (long long)(noise_scatter(ns, HALF) * 1e6);
	}
	n->steps = rate_steps_sum(&steps);
	if (n->steps.persecond == 0)
		n->steps.size = n->steps.lasted = -1;
	noise_verdict(n, median[0], median[1], c.step);
	n->dither = (double)stats_median(scatter, BATCHES) / 1e6;
	n->worst = (double)scatter[BATCHES - 1] / 1e6;
}

const struct noise *noise_measure(void)
{
	static struct noise n;
	struct system_time before, after;
	long long hz[5];
	int told = system_time("", &before), cpu = affinity_here(), i;

	memset(&n, 0, sizeof n);
	n.steal = -1;
	noise_listen(&n);
	noise_windows(&n);
	for (i = 0; i < 5; i++)
		hz[i] = cpucycles_observepersecond();
	n.hz = stats_median(hz, 5) > 0 ? (double)hz[2] : -1;
	if (told == 0 && system_time("", &after) == 0)
		n.steal = (double)(after.stolen - before.stolen) /
			  (double)(after.busy > before.busy
					   ? after.busy - before.busy
					   : 1);
	system_read("", cpu < 0 ? 0 : cpu, &n.system);
	return &n;
}
