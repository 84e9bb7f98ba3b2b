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
 * --long measures as much as the figures of cpucycles(7) need. */
#include <config.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "subject.h"
#include "tools/common/known.h"
#include "tools/common/rate_steps.h"

#define TABLE "truth"
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
	c = count() - c;
	around = bench_bare() - around;
	return (struct timing){(double)c, (double)raw, (double)around};
}

/* The mean of an empty timing's counts: the median would be a step of the
 * clock. Those that were interrupted are left out. */
static struct timing empty_timing(long long (*count)(void))
{
	static double counted[TIMINGS], raw[TIMINGS], sorted[2][TIMINGS];
	struct timing t, sum = {0, 0, 0};
	double counted_most, raw_most;
	int i, n = 0;

	for (i = 0; i < TIMINGS; i++) {
		t = time_one(count, false);
		counted[i] = sorted[0][i] = t.counted;
		raw[i] = sorted[1][i] = t.raw;
	}
	counted_most = 2 * quantile(sorted[0], TIMINGS, 0.5);
	raw_most = 2 * quantile(sorted[1], TIMINGS, 0.5);
	for (i = 0; i < TIMINGS; i++)
		if (counted[i] <= counted_most && raw[i] <= raw_most) {
			sum.counted += counted[i];
			sum.raw += raw[i];
			n++;
		}
	return (struct timing){sum.counted / n, sum.raw / n, 0};
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

/* Empty timings take longer while another hardware thread works, as others do:
 * each block has its own. */
static void block(long long (*count)(void), int n)
{
	const struct timing empty = empty_timing(count);
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

	bench_value("truth-steps", name, "steps a second", "%.1f", s.persecond);
	bench_value("truth-steps", name, "size, %", "%.1f", s.size * 100);
	bench_value("truth-steps", name, "level, ms", "%.2f", s.lasted * 1e3);
}

static void print_scatter(const char *name, const char *prefix, double *v)
{
	static const double part[] = {0.01, 0.1, 0.9, 0.99};
	static const char *const nth[] = {"1st", "10th", "90th", "99th"};
	char column[64];
	int i;

	for (i = 0; i < 4; i++) {
		snprintf(column, sizeof column, "%s%s", prefix, nth[i]);
		print(TABLE, name, column, quantile(v, found.singles, part[i]));
	}
}

/* Of n errors, whichever their sign. */
static void print_errors(const char *table, const char *name, double *v, int n)
{
	int i;

	for (i = 0; i < n; i++)
		v[i] = v[i] < 0 ? -v[i] : v[i];
	print(table, name, "error", quantile(v, n, 0.5));
	print(table, name, "error p90", quantile(v, n, 0.9));
	print(table, name, "worst", quantile(v, n, 1));
}

static void bench(const char *name, const char *kind, long long (**count)(void),
		  int blocks, int timings)
{
	int i;

	memset(&found, 0, sizeof found);
	for (i = 0; i < blocks; i++)
		block(*count, timings);
	bench_value(TABLE, name, "kind", "%s", kind);
	print(TABLE, name, "median", quantile(found.block, blocks, 0.5));
	print_errors(TABLE, name, found.block, blocks);
	print_scatter(name, "", found.single);
	print_scatter(name, "one ratio, ", found.one);
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

static bool fresh_process(double *error)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		fresh(error);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && status == 0;
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
	double *v = mmap(NULL, FRESH * sizeof *v, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int i, n = 0;

	for (i = 0; v != MAP_FAILED && i < FRESH; i++)
		n += start(&v[n]);
	if (n > 0)
		print_errors("truth-fresh", name, v, n);
}

int main(int argc, char **argv)
{
	bool is_long = argc > 1 && !strcmp(argv[1], "--long");
	int blocks = is_long ? BLOCKS_LONG : BLOCKS_SHORT;
	int timings = bench_rounds(TIMINGS - 1);
	struct cpucycles_counter c;
	struct subject *peer;
	unsigned i = 0;

	if (!known_usable())
		bench_skip("no chain of known length on this CPU");
	bare_grain = rate_steps_grain(bench_bare);
	bench_fresh("processes", fresh_process);
	bench_fresh("threads", fresh_thread);
	while (subject_next(&i, &c))
		bench(c.name, c.kind, subject_own.count, blocks, timings);
	peer = subject_peer();
	if (peer != NULL)
		bench(peer->name, "peer", peer->count, blocks, timings);
	return 0;
}
