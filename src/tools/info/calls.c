/* SPDX-License-Identifier: 0BSD */
/* Measures differences of counts, their rate, and gaps in the thread's time. */
#include <config.h>
#include "cpucycles.h"
#include "info.h"
#include "../common/rate_steps.h"
#include "../common/stats.h"
#include "../common/tool.h"

/* Of a loop: in some no other thread has the CPU, and no count takes long. */
#define TRIES 20
#define NARROW 1.01 /* proportion of bounds that need no other try */
/* Iterations without a count: after a long interval, one measures the rate. */
#define PART 32768L
#define UNCERTAIN 0.002 /* part by which a calibrated count may be off */

#define SHARE_NS 40000000 /* several measurements */

#define LISTEN_NS 400000000 /* for gaps; but for so many at most, */
#define GAPS_MOST 8192
#define GAP_NS 1000 /* as shorter ones may be cache misses */

const struct calls *calls_measure(int n)
{
	static long long count[CALLS_MANY + 1];
	static struct calls c;
	int round, i;

	/* The first round takes the page faults. */
	for (round = 0; round < 2; round++)
		for (i = 0; i <= n; i++)
			count[i] = cpucycles();
	for (i = 0; i < n; i++)
		c.sorted[i] = c.diff[i] = count[i + 1] - count[i];
	stats_sort(c.sorted, n);
	for (i = 0; i < 3; i++)
		c.quartile[i] = stats_quantile(c.sorted, n, i + 1, 4);
	c.iqm = stats_iqm(c.sorted, n);
	return &c;
}

/* The time of the loop alone, and that with all counts, give bounds that hold
 * however long a count takes: a calibrated one stands still while it measures.
 * The difference of two counts is off by up to a tick, which is microseconds
 * with some counters; `off` is a part of it. Not if the thread was preempted:
 * the clock went on then, and the count may not have. */
static void calls_observe_once(struct observed *o, double tick, double off)
{
	const clockid_t clock = tool_thread_clock();
	long long ran, outer, inner = 0, first, last;
	double count, low, high;
	long done, i;

	ran = tool_clock_ns(clock);
	outer = tool_ns();
	last = first = cpucycles();
	for (done = 0; done < o->loops; done += PART) {
		inner -= tool_ns();
		for (i = 0; i < o->loops && i < PART; i++)
			__asm__ __volatile__("");
		inner += tool_ns();
		last = cpucycles();
	}
	outer = tool_ns() - outer;
	if (tool_clock_ns(clock) - ran < outer || inner <= 0)
		return;
	count = (double)(last - first);
	low = (count > tick ? count - tick : 0) * (1 - off) * 1e9 /
	      (double)outer;
	high = (count + tick) * (1 + off) * 1e9 / (double)inner;
	*o = (struct observed){o->loops, outer, low, high};
}

int calls_observe(struct observed o[OBSERVED])
{
	struct cpucycles_counter c = {.scaling = 0};
	double off;
	int i, try, n = 0;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	off = c.kind_id == CPUCYCLES_CALIBRATED ? UNCERTAIN : 0;
	for (i = 0; i < OBSERVED; i++) {
		o[n] = (struct observed){.loops = 8192L << i};
		for (try = 0; try < TRIES &&
			      (o[n].ns == 0 || o[n].high > o[n].low * NARROW);
		     try++)
			calls_observe_once(&o[n], c.scaling, off);
		n += o[n].ns > 0;
	}
	return n;
}

/* Where the clock goes on by a microsecond or more, and the count by less than
 * half of that, the call measured, unless the thread was preempted. */
double calls_share(void)
{
	const double hz = (double)cpucycles_persecond();
	long long seen = cpucycles_interruptions(), before = seen;
	long long begin = tool_ns(), last, now, count, step, lost = 0;

	/* A thread that has done other things measures more at first. */
	while (tool_ns() - begin < SHARE_NS)
		cpucycles();
	begin = last = tool_ns();
	for (count = cpucycles(); last - begin < SHARE_NS; last = now) {
		step = cpucycles() - count;
		count += step;
		now = tool_ns();
		if (now - last < GAP_NS ||
		    (double)step * 2e9 > (double)(now - last) * hz)
			continue;
		seen = cpucycles_interruptions();
		lost += seen == before ? now - last : 0;
		before = seen;
		count = cpucycles();
		now = tool_ns();
	}
	return seen < 0 ? -1 : (double)lost / (double)(last - begin);
}

/* Sums up n gaps within `total` ns. Sorts them. */
static struct gaps calls_sum(long long *ns, int n, long long total)
{
	struct gaps g = {0, 0, -1, -1};
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

/* The clock is read in a loop: where it jumps, the thread did not run. A
 * counter would not do, as some stand still then. */
void calls_gaps(struct gaps gaps[GAPS_KINDS])
{
	static long long gap[GAPS_KINDS][GAPS_MOST];
	long long step = rate_steps_grain(tool_ns), least = 10 * step, now,
		  last, begin;
	long long seen = cpucycles_interruptions(), before = seen;
	int count[GAPS_KINDS] = {0}, kind = GAPS_OTHER;

	least = least < GAP_NS ? GAP_NS : least;
	begin = last = tool_ns();
	do {
		now = tool_ns();
		if (now - last >= least) {
			seen = cpucycles_interruptions();
			kind = seen != before ? GAPS_THREADS : GAPS_OTHER;
			before = seen;
			gap[kind][count[kind]++] = now - last - step;
			now = tool_ns();
		}
		last = now;
	} while (now - begin < LISTEN_NS && count[kind] < GAPS_MOST);
	for (kind = 0; kind < GAPS_KINDS; kind++)
		gaps[kind] = calls_sum(gap[kind], count[kind], now - begin);
	if (seen < 0)
		gaps[GAPS_THREADS] = (struct gaps){-1, -1, -1, -1};
}
