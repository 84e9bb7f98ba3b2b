/* SPDX-License-Identifier: 0BSD */
/* Measures the count: its difference from call to call, and its rate. */
#include <config.h>
#include <string.h>
#include "calls.h"
#include "cpucycles.h"
#include "../common/stats.h"
#include "../common/tool.h"

#define TRIES 3 /* an interrupt rarely hits all of them */

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
	c.n = n;
	return &c;
}

long long calls_step(long long range, int n)
{
	long long step = 1;
	int i;

	for (i = 0; step < range / n + (range % n > 0); i++)
		step = i % 3 == 1 ? step / 2 * 5 : step * 2;
	return step;
}

/* Divides and rounds towards minus infinity, so that a bin begins at 0. */
static long long calls_divide(long long value, long long by)
{
	return value / by - (value % by < 0);
}

void calls_histogram(struct histogram *h, const long long *sorted, int n,
		     int bins)
{
	/* The few that an interrupt hit would squeeze all others together. */
	long long low = stats_quantile(sorted, n, 1, 100), bin, last;
	long long high = stats_quantile(sorted, n, 99, 100);
	long long width = calls_step(high - low, bins - 1);
	int i, *count;

	bin = calls_divide(low, width);
	last = calls_divide(high, width);
	/* An empty bin on either side shows that nothing lies beyond. */
	bin -= bin != 0 && last - bin + 1 < bins;
	last += last - bin + 1 < bins;
	if (last - bin + 1 < BINS_MIN)
		last = bin + BINS_MIN - 1;
	memset(h, 0, sizeof *h);
	h->first = bin * width;
	h->width = width;
	h->bins = (int)(last - bin) + 1;
	low = stats_quantile(sorted, n, 1, 4) - h->first;
	high = stats_quantile(sorted, n, 3, 4) - h->first;
	h->low = (int)calls_divide(low, width);
	h->high = (int)calls_divide(high, width);
	for (i = 0; i < n; i++) {
		bin = calls_divide(sorted[i] - h->first, width);
		count = bin < 0          ? &h->below
			: bin >= h->bins ? &h->above
					 : &h->count[bin];
		if (++*count > h->most)
			h->most = *count;
	}
}

/* Counts taken just inside and just outside the two readings of the clock give
 * bounds that hold however long a reading takes. The difference of two counts
 * is off by up to a tick, which is microseconds with some counters. In a longer
 * time the thread was preempted, or a calibrated counter measured: the clock
 * went on then, and the count may not have. */
static void calls_observe_once(struct observed *o, double tick)
{
	long long inner, outer, ns;
	double low, high;
	long i;

	outer = cpucycles();
	ns = tool_ns();
	inner = cpucycles();
	for (i = 0; i < o->loops; i++)
		__asm__ __volatile__("");
	inner = cpucycles() - inner;
	ns = tool_ns() - ns;
	outer = cpucycles() - outer;
	if (ns <= 0 || (o->ns > 0 && ns >= o->ns))
		return;
	low = (double)inner > tick ? (double)inner - tick : 0;
	high = (double)outer + tick;
	*o = (struct observed){o->loops, ns, low * 1e9 / (double)ns,
			       high * 1e9 / (double)ns};
}

int calls_observe(struct observed o[OBSERVED])
{
	struct cpucycles_counter c = {.scaling = 0};
	int i, try, n = 0;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	for (i = 0; i < OBSERVED; i++) {
		o[n] = (struct observed){.loops = 8192L << i};
		for (try = 0; try < TRIES; try++)
			calls_observe_once(&o[n], c.scaling);
		n += o[n].ns > 0;
	}
	return n;
}
