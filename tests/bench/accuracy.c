/* SPDX-License-Identifier: 0BSD */
/* How true the counts are: the error of each usable counter, in percent,
 * against a chain of CYCLES.
 *
 * On a shared host many timings are lengthened by what no clock outside the
 * core can see: another guest has the core, or an interrupt. So each timing is
 * also taken with the bare clock, fenced, just inside the counter's two calls,
 * and counts only if that shows no disturbance: if it is within 1% of the
 * lower quartile of its block, and if the calls took less than ten times that,
 * as they do unless another process ran. What is left is the error of the ratio
 * in use, and what a call adds that measures. */
#include <config.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "tools/common/known.h"
#include "tools/common/rate_steps.h"

#define TABLE "truth"
#define CYCLES 30000
#define TIMINGS 1500
#define BLOCKS 61
#define FRESH 31
#define FRESH_NS 500000
#define FRESH_TIMINGS 1000
#define NEAR 1.01 /* of the lower quartile, is undisturbed */
#define PARTS 1e7 /* of 1, in which errors are kept */

struct timing {
	double counted, raw; /* `raw` just inside the counter's two calls */
	double around;       /* and around both */
};

/* Blocks of timings, each after the time that an empty one takes is taken off,
 * become errors: of the block, and of single timings. */
static struct {
	struct rate_steps steps;
	long long block[BLOCKS];
	double raw[BLOCKS]; /* the mean length of a block's timings */
	long long single[BLOCKS * TIMINGS];
	int singles;
} found;

static long long bare_grain;

static struct timing time_one(bool work)
{
	long long around = bench_bare(), c = cpucycles(), raw;

	cpucycles_fence();
	raw = bench_bare();
	cpucycles_fence();
	if (work)
		known->loop(CYCLES / known->turn);
	else
		known_nothing();
	cpucycles_fence();
	raw = bench_bare() - raw;
	cpucycles_fence();
	c = cpucycles() - c;
	around = bench_bare() - around;
	return (struct timing){(double)c, (double)raw, (double)around};
}

/* Means without what was interrupted: a median would be a step of the clock. */
static struct timing empty_timing(void)
{
	static long long counted[TIMINGS], raw[TIMINGS];
	struct timing t;
	int i;

	for (i = 0; i < TIMINGS; i++) {
		t = time_one(false);
		counted[i] = (long long)t.counted;
		raw[i] = (long long)t.raw;
	}
	stats_sort(counted, TIMINGS);
	stats_sort(raw, TIMINGS);
	return (struct timing){stats_iqm(counted, TIMINGS),
			       stats_iqm(raw, TIMINGS), 0};
}

/* Keeps what is undisturbed of t[0 ... n), without what is empty in them, and
 * gives the mean error. */
static long long block_error(struct timing *t, int *n, struct timing empty)
{
	static long long raw[TIMINGS];
	double limit, counted = 0;
	int i, kept = 0;

	for (i = 0; i < *n; i++)
		raw[i] = (long long)t[i].raw;
	stats_sort(raw, *n);
	limit = (double)stats_quantile(raw, *n, 1, 4) - empty.raw;
	for (i = 0; i < *n; i++) {
		if (t[i].around - t[i].raw > 10 * limit)
			continue;
		t[kept].raw = t[i].raw - empty.raw;
		t[kept].counted = t[i].counted - empty.counted;
		if (t[kept].raw > limit * NEAR || t[kept].raw < limit / NEAR)
			continue;
		counted += t[kept].counted;
		kept++;
	}
	*n = kept;
	return kept ? (long long)((counted / kept / CYCLES - 1) * PARTS) : 0;
}

/* Empty timings take longer while another hardware thread works, as others do:
 * each block has its own. */
static void block(int b)
{
	const struct timing empty = empty_timing();
	static struct timing t[TIMINGS];
	long long begin;
	int i, n = TIMINGS;

	for (i = 0; i < n; i++) {
		begin = bench_ns();
		t[i] = time_one(true);
		rate_steps_add(&found.steps, begin,
			       (long long)(t[i].raw - empty.raw), bare_grain);
	}
	found.block[b] = block_error(t, &n, empty);
	for (i = 0; i < n; i++) {
		found.single[found.singles++] =
			(long long)((t[i].counted / CYCLES - 1) * PARTS);
		found.raw[b] += t[i].raw / n;
	}
}

/* How the core moved: the median of what its rate changed by from a block to
 * the next. */
static long long rate_change(int blocks)
{
	static long long change[BLOCKS];
	double ratio;
	int i, n = 0;

	for (i = 1; i < blocks; i++) {
		if (found.raw[i - 1] <= 0)
			continue;
		ratio = found.raw[i] / found.raw[i - 1];
		change[n++] = llabs((long long)((ratio - 1) * PARTS));
	}
	return n > 0 ? stats_median(change, n) : 0;
}

static void print(const char *table, const char *row, const char *column,
		  long long error)
{
	bench_value(table, row, column, "%+.3f", (double)error * 100 / PARTS);
}

/* Of n errors, whichever their sign. */
static void print_errors(const char *table, const char *name, long long *v,
			 int n)
{
	int i;

	for (i = 0; i < n; i++)
		v[i] = llabs(v[i]);
	print(table, name, "error", stats_median(v, n));
	print(table, name, "error p90", stats_quantile(v, n, 9, 10));
	print(table, name, "worst", v[n - 1]);
}

static void bench(const struct cpucycles_counter *c)
{
	int i, n = bench_rounds(BLOCKS);
	struct rate_summary s;

	memset(&found, 0, sizeof found);
	for (i = 0; i < n; i++)
		block(i);
	bench_value(TABLE, c->name, "kind", "%s", c->kind);
	bench_value(TABLE, c->name, "change, %", "%.3f",
		    (double)rate_change(n) * 100 / PARTS);
	print(TABLE, c->name, "median", stats_median(found.block, n));
	print_errors(TABLE, c->name, found.block, n);
	n = found.singles;
	if (n > 0) {
		stats_sort(found.single, n);
		print(TABLE, c->name, "10th",
		      stats_quantile(found.single, n, 1, 10));
		print(TABLE, c->name, "90th",
		      stats_quantile(found.single, n, 9, 10));
	}
	s = rate_steps_sum(&found.steps);
	bench_value(TABLE, c->name, "steps a second", "%.1f", s.persecond);
	bench_value(TABLE, c->name, "size, %", "%.1f", s.size * 100);
	bench_value(TABLE, c->name, "level, ms", "%.2f", s.lasted * 1e3);
}

/* The error in the first half millisecond of counting. */
static void *fresh(void *error)
{
	static struct timing t[FRESH_TIMINGS];
	long long begin;
	int n = 0;

	cpucycles();
	begin = bench_ns();
	do
		t[n++] = time_one(true);
	while (bench_ns() - begin < FRESH_NS && n < FRESH_TIMINGS);
	*(long long *)error = block_error(t, &n, empty_timing());
	return NULL;
}

/* In processes, and in a thread of each. This one must not have called
 * cpucycles. */
static void bench_fresh(void)
{
	long long(*v)[FRESH] = mmap(NULL, 2 * sizeof *v, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i, n = 0, status;
	pthread_t id;
	pid_t pid;

	for (i = 0; v != MAP_FAILED && i < FRESH; i++) {
		pid = fork();
		if (pid == 0) {
			fresh(&v[0][n]);
			_exit(pthread_create(&id, NULL, fresh, &v[1][n]) != 0 ||
			      pthread_join(id, NULL) != 0);
		}
		n += waitpid(pid, &status, 0) == pid && status == 0;
	}
	if (n > 0) {
		print_errors("truth-fresh", "processes", v[0], n);
		print_errors("truth-fresh", "threads", v[1], n);
	}
}

int main(void)
{
	struct cpucycles_counter c;
	unsigned i = 0;

	if (!known_usable())
		bench_skip("no chain of known length on this CPU");
	bare_grain = rate_steps_grain(bench_bare);
	bench_fresh();
	while (bench_next(&i, &c))
		bench(&c);
	return 0;
}
