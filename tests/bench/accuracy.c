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
 * in use, and what a call adds that measures.
 *
 * The rate of a core moves within a block too. For comparison, "one ratio" is
 * the bare clock with the ratio that suits the block best: its scatter is that
 * of the core, and no counter can be much better.
 *
 * --long measures as much as the figures of cpucycles(7) need: a minute. */
#include <config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "bench.h"
#include "subject.h"
#include "tools/common/known.h"
#include "tools/common/rate_steps.h"

#define TABLE "truth"
#define TABLE_FRESH "truth-fresh"
#define TABLE_STEPS "truth-steps"
#define CYCLES 30000
#define TIMINGS 1500
#define BLOCKS_LONG 60
#define BLOCKS_SHORT 12
#define FRESH 30
#define FRESH_NS 500000
#define FRESH_TIMINGS 1000
#define NEAR 1.01 /* of the lower quartile, is undisturbed */

struct timing {
	double counted, raw; /* `raw` just inside the counter's two calls */
	double around;       /* and around both */
};

/* Blocks of timings, each after the time that an empty one takes is taken off,
 * become errors: of the block, of single timings, and of one ratio. */
static struct {
	struct rate_steps steps;
	double block[BLOCKS_LONG];
	double single[BLOCKS_LONG * TIMINGS], one[BLOCKS_LONG * TIMINGS];
	int blocks, singles;
} found;

#if defined(__x86_64__) || defined(__i386__)
#define FENCE() __asm__ __volatile__("lfence" ::: "memory")
#elif defined(__aarch64__)
#define FENCE() __asm__ __volatile__("isb" ::: "memory")
#else
#define FENCE() __asm__ __volatile__("" ::: "memory")
#endif

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double quantile(double *v, int n, double q)
{
	qsort(v, (size_t)n, sizeof *v, compare);
	return n > 0 ? v[(int)((n - 1) * q + 0.5)] : 0;
}

static long long bare_grain;

static struct timing time_one(long long (*count)(void), bool work)
{
	long long around = bench_bare(), c = count(), raw;

	FENCE();
	raw = bench_bare();
	FENCE();
	if (work)
		known->loop(CYCLES / known->turn);
	else
		known_nothing();
	FENCE();
	raw = bench_bare() - raw;
	FENCE();
	c = count() - c;
	around = bench_bare() - around;
	return (struct timing){(double)c, (double)raw, (double)around};
}

/* The mean of an empty timing's counts: the median would be a step of the
 * clock. Those that were interrupted are left out. */
static struct timing empty_timing(long long (*count)(void))
{
	static double v[2][TIMINGS];
	struct timing t, sum = {0, 0, 0};
	double limit[2];
	int i, n = 0;

	for (i = 0; i < TIMINGS; i++) {
		t = time_one(count, false);
		v[0][i] = t.counted;
		v[1][i] = t.raw;
	}
	for (i = 0; i < 2; i++) {
		static double sorted[TIMINGS];

		memcpy(sorted, v[i], sizeof sorted);
		limit[i] = 2 * quantile(sorted, TIMINGS, 0.5);
	}
	for (i = 0; i < TIMINGS; i++)
		if (v[0][i] <= limit[0] && v[1][i] <= limit[1]) {
			sum.counted += v[0][i];
			sum.raw += v[1][i];
			n++;
		}
	return (struct timing){sum.counted / (n ? n : 1), sum.raw / (n ? n : 1),
			       0};
}

/* Keeps what is undisturbed of t[0 ... n), without what is empty in them, and
 * gives the mean error; *ratio becomes cycles per bare tick. */
static double block_error(struct timing *t, int *n, struct timing empty,
			  double *ratio)
{
	static double raw[TIMINGS];
	double limit, error = 0, sum = 0;
	int i, kept = 0;

	for (i = 0; i < *n; i++)
		raw[i] = t[i].raw - empty.raw;
	limit = quantile(raw, *n, 0.25);
	for (i = 0; i < *n; i++) {
		if (t[i].around - t[i].raw > 10 * limit)
			continue;
		t[kept].raw = t[i].raw - empty.raw;
		t[kept].counted = t[i].counted - empty.counted;
		if (t[kept].raw <= limit * NEAR &&
		    t[kept].raw >= limit / NEAR) {
			error += t[kept].counted / CYCLES - 1;
			sum += t[kept].raw;
			kept++;
		}
	}
	*n = kept;
	*ratio = kept ? (double)CYCLES * kept / sum : 0;
	return kept ? error / kept : 0;
}

static void block(long long (*count)(void), int n, struct timing empty)
{
	static struct timing t[TIMINGS];
	long long begin;
	double ratio;
	int i;

	for (i = 0; i < n; i++) {
		begin = bench_ns();
		t[i] = time_one(count, true);
		rate_steps_add(&found.steps, begin,
			       (long long)(t[i].raw - empty.raw), bare_grain);
	}
	found.block[found.blocks++] = block_error(t, &n, empty, &ratio);
	for (i = 0; i < n; i++, found.singles++) {
		found.single[found.singles] = t[i].counted / CYCLES - 1;
		found.one[found.singles] = t[i].raw * ratio / CYCLES - 1;
	}
}

static void print(const char *table, const char *row, const char *column,
		  double error)
{
	bench_value(table, row, column, "%+.3f", error * 100);
}

static void print_steps(const char *name)
{
	struct rate_summary s = rate_steps_sum(&found.steps);

	bench_value(TABLE_STEPS, name, "steps a second", "%.1f", s.persecond);
	bench_value(TABLE_STEPS, name, "size, %", "%.1f", s.size * 100);
	bench_value(TABLE_STEPS, name, "level, ms", "%.2f", s.lasted * 1e3);
}

static void bench(const char *name, const char *kind, long long (**count)(void),
		  int blocks, int timings)
{
	struct timing empty;
	double v[BLOCKS_LONG], middle;
	int i;

	bench_progress("the truth:", name);
	memset(&found, 0, sizeof found);
	empty = empty_timing(*count);
	for (i = 0; i < blocks; i++)
		block(*count, timings, empty);
	memcpy(v, found.block, sizeof v);
	middle = quantile(v, blocks, 0.5);
	for (i = 0; i < blocks; i++)
		v[i] = found.block[i] < 0 ? -found.block[i] : found.block[i];
	bench_value(TABLE, name, "kind", "%s", kind);
	print(TABLE, name, "1st", quantile(found.single, found.singles, 0.01));
	print(TABLE, name, "10th", quantile(found.single, found.singles, 0.1));
	print(TABLE, name, "median", middle);
	print(TABLE, name, "90th", quantile(found.single, found.singles, 0.9));
	print(TABLE, name, "99th", quantile(found.single, found.singles, 0.99));
	print(TABLE, name, "error", quantile(v, blocks, 0.5));
	print(TABLE, name, "error p90", quantile(v, blocks, 0.9));
	print(TABLE, name, "worst", quantile(v, blocks, 1));
	print(TABLE, name, "one ratio, 1st",
	      quantile(found.one, found.singles, 0.01));
	print(TABLE, name, "one ratio, 10th",
	      quantile(found.one, found.singles, 0.1));
	print(TABLE, name, "one ratio, 90th",
	      quantile(found.one, found.singles, 0.9));
	print(TABLE, name, "one ratio, 99th",
	      quantile(found.one, found.singles, 0.99));
	print_steps(name);
}

/* The error in the first half millisecond of counting. */
static void *fresh(void *error)
{
	static struct timing t[FRESH_TIMINGS];
	long long begin;
	struct timing empty;
	double ratio;
	int n = 0;

	cpucycles();
	begin = bench_ns();
	while (bench_ns() - begin < FRESH_NS && n < FRESH_TIMINGS)
		t[n++] = time_one(cpucycles, true);
	empty = empty_timing(cpucycles);
	*(double *)error = block_error(t, &n, empty, &ratio);
	return NULL;
}

static void fresh_error(void *error)
{
	fresh(error);
}

static bool fresh_process(double *error)
{
	return bench_process(fresh_error, error, sizeof *error);
}

static bool fresh_thread(double *error)
{
	pthread_t id;

	return pthread_create(&id, NULL, fresh, error) == 0 &&
	       pthread_join(id, NULL) == 0;
}

/* This process must not have called cpucycles when processes are to be fresh.
 */
static void bench_fresh(const char *name, bool (*start)(double *))
{
	double v[FRESH];
	int i, n = 0;

	bench_progress("the truth:", name);
	for (i = 0; i < FRESH; i++) {
		if (!start(&v[n]))
			continue;
		v[n] = v[n] < 0 ? -v[n] : v[n];
		n++;
	}
	if (n == 0)
		return;
	print(TABLE_FRESH, name, "error", quantile(v, n, 0.5));
	print(TABLE_FRESH, name, "error p90", quantile(v, n, 0.9));
	print(TABLE_FRESH, name, "worst", quantile(v, n, 1));
}

int main(int argc, char **argv)
{
	bool is_long = argc > 1 && !strcmp(argv[1], "--long");
	int blocks = is_long ? BLOCKS_LONG : BLOCKS_SHORT;
	int timings = bench_rounds(TIMINGS - 1);
	struct cpucycles_counter c;
	struct subject *p;
	unsigned i = 0;

	bench_title(TABLE,
		    "3. The truth: error in percent against a chain of %d "
		    "cycles",
		    CYCLES);
	if (!known_usable()) {
		bench_note(TABLE, "No chain of known length on this CPU");
		return 0;
	}
	bench_note(
		TABLE,
		"%d blocks of %d timings, less those that the bare clock "
		"shows to be disturbed; error: of a block's mean, whichever "
		"its sign; 1st ... 99th: percentiles of single timings; one "
		"ratio: the same of the bare clock with the ratio that suits "
		"each block best, for comparison",
		blocks, timings);
	bare_grain = rate_steps_grain(bench_bare);
	bench_title(TABLE_STEPS, "3. The core's rate meanwhile: steps of more "
				 "than 1%%, and how long its levels lasted");
	bench_note(TABLE_STEPS,
		   "by the lengths of the timings; medians of the sizes, and "
		   "of the times from step to step");
	bench_title(TABLE_FRESH,
		    "3. The truth of the first half millisecond: error in "
		    "percent of %d fresh processes, and threads",
		    FRESH);
	bench_fresh("processes", fresh_process);
	bench_fresh("threads", fresh_thread);
	while (subject_next(&i, &c))
		bench(c.name, c.kind, subject_own.count, blocks, timings);
	for (p = subject_peers(); p->count; p++)
		bench(p->name, "peer", p->count, blocks, timings);
	bench_progress("", "");
	return 0;
}
