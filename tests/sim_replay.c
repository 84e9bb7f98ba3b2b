/* SPDX-License-Identifier: 0BSD */
/* A calibrated count on recordings of real cores' rates, which step or wander.
 * SIM_SEEDS times each, 4 if it is not set. */
#include "recorded.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Limits of what must hold for a replay: the errors of blocks of 10 ms, the
 * part of the timings in which the ratio is more than 1% off, and the share of
 * the time. Then those of the means of all seeds, with room for chance in that
 * of the worst blocks. */
#define BLOCKS 600
#define BLOCK_NS 10e6
#define TIMED 30000 /* cycles */

#define SHARE_MEAN 0.012

static const struct replay {
	const char *name;
	const struct recorded_core *core;
	double p90, worst, far;
	struct means {
		double p50, p90, worst;
	} most;
} replays[] = {
	{"a Granite Rapids", &granite, 0.0005, 0.002, 0.008,
	 {0.0002, 0.0005, 0.0014}},
	/* Where the clock is coarse, glimpses are long, and rare. */
	{"a Granite Rapids, clock steps of 26 ticks", &granite_coarse, 0.0018,
	 0.01, 0.05, {0.0005, 0.0012, 0.004}},
	{"a Cascade Lake, other tenants' licences", &cascade, 0.0008, 0.004,
	 0.005, {0.00025, 0.0007, 0.0034}},
	{"a Cascade Lake, a quiet host", &cascade_quiet, 0.0006, 0.005, 0.002,
	 {0.00025, 0.0007, 0.0034}},
	{"a Zen 5 that wanders", &zen5, 0.0015, 0.01, 0.005,
	 {0.00045, 0.001, 0.004}},
	{"a Zen 5 that wanders more", &zen5_more, 0.0015, 0.01, 0.006,
	 {0.00045, 0.001, 0.004}},
};

static struct means sum;
static double shares;

/* In the guard a glimpse costs more, and so comes more rarely. */
static const double rarer = CPUC_GLIMPSE_GUARDED ? 1.2 : 1;

static int timed, far; /* timings, and those with a ratio more than 1% off */

/* The error of a block. */
static double steps_block(double ghz)
{
	double end = now + BLOCK_NS, done = cycles, slow = 0, before, begin;
	uint64_t first = count(), last = first;

	while (now < end) {
		steps_on(ghz);
		pass(TIMED);
		before = on.core;
		begin = measuring;
		last = count();
		slow += (measuring - begin) * before;
		timed++;
		far += off() > 0.01;
	}
	return distance((double)(last - first) / (cycles - done - slow) - 1);
}

static void steps_replay(const struct replay *r)
{
	double error[BLOCKS] = {0}, begin, took;
	int n;

	steps_begin(r->core);
	timed = far = 0;
	begin = now;
	for (n = 0; n < BLOCKS && steps.k < steps.n - 30; n++)
		error[n] = steps_block(r->core->ghz);
	took = now - begin;
	qsort(error, (size_t)n, sizeof *error, compare);
	ok(n > 100 && error[n * 9 / 10] < r->p90 * rarer &&
		   error[n - 1] < r->worst && up,
	   "%s, %d steps: %d blocks of 10 ms are %.3f%% off, 90th percentile "
	   "%.3f%%, worst %.3f%%",
	   r->name, steps.k, n, error[n / 2] * 100, error[n * 9 / 10] * 100,
	   error[n - 1] * 100);
	sum.p50 += error[n / 2];
	sum.p90 += error[n * 9 / 10];
	sum.worst += error[n - 1];
	shares += measuring / took;
	ok(measuring < SHARE_MOST * took, "in %.2f%% of the time",
	   measuring / took * 100);
	ok(far <= r->far * timed,
	   "a ratio more than 1%% off in %.3f%% of the timings",
	   far * 100. / timed);
}

static void means(const struct replay *r, double n)
{
	ok(sum.p50 < r->most.p50 * n * rarer &&
		   sum.p90 < r->most.p90 * n * rarer &&
		   sum.worst < r->most.worst * n &&
		   shares < SHARE_MEAN * n,
	   "%s, the mean of %.0f replays: %.3f%% off, 90th percentile %.3f%%, "
	   "worst %.3f%%, in %.2f%% of the time",
	   r->name, n, sum.p50 / n * 100, sum.p90 / n * 100,
	   sum.worst / n * 100, shares / n * 100);
}

int main(void)
{
	const unsigned seeds = machine_prepare();
	const struct replay *r;

	for (r = replays; r < replays + COUNT(replays); r++) {
		if (!steps_read(r->core)) {
			skip("no %s here", r->core->file);
			continue;
		}
		sum = (struct means){0};
		shares = 0;
		for (seed = 0; seed < seeds; seed++)
			steps_replay(r);
		means(r, seeds);
	}
	return done_testing();
}
