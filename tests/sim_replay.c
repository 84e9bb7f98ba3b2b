/* SPDX-License-Identifier: 0BSD */
/* A calibrated count on recordings of real cores' rates, which step or wander.
 * SIM_SEEDS times each, 4 if it is not set. */
#include "sim_machine.h"

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The steps of a real core's rate: the time of each in ms, and the rate from
 * then on over the clock's. Limits of what must hold for their replay: the
 * errors of blocks of 10 ms, the part of the timings in which the ratio is more
 * than 1% off, and the share of the time. */
#define STEPS_MOST 6000
#define BLOCKS 600
#define BLOCK_NS 10e6
#define TIMED 30000 /* cycles */

static const struct recorded_steps {
	const char *core, *file;
	int record; /* in the file, from 0 on */
	double ghz, step, p90, worst, far, share;
} recorded[] = {
	{"a Granite Rapids", "rate-steps.txt", 0, 2.6, 1, 0.0008, 0.005, 0.01,
	 0.012},
	/* Where the clock is coarse, glimpses are long, and rare. */
	{"a Granite Rapids, clock steps of 26 ticks", "rate-steps.txt", 0, 2.6,
	 26, 0.003, 0.01, 0.06, 0.0133},
	{"a Cascade Lake, other tenants' licences", "rate-steps-licence.txt", 0,
	 2.5, 2, 0.0008, 0.005, 0.005, 0.012},
	{"a Cascade Lake, a quiet host", "rate-steps-licence.txt", 1, 2.5, 2,
	 0.0008, 0.005, 0.002, 0.012},
	{"a Zen 5 that wanders", "rate-wander.txt", 0, 2.096, 21, 0.0045, 0.01,
	 0.01, 0.012},
	{"a Zen 5 that wanders more", "rate-wander.txt", 1, 2.096, 21, 0.0045,
	 0.01, 0.01, 0.012},
};

static struct {
	double ms[STEPS_MOST], level[STEPS_MOST];
	int n, k;    /* of these, and how many have been */
	double next; /* when the next one comes */
} steps;

/* A time that is less than the one before begins another record. */
static bool steps_read(const struct recorded_steps *r)
{
	const char *top = getenv("top_srcdir");
	double ms, level, last = 0;
	char path[512], comment[2];
	int record = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/%s", top ? top : "..", r->file);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	while (fscanf(f, " %1[#]%*[^\n]", comment) == 1)
		;
	steps.n = 0;
	while (fscanf(f, "%lf %lf", &ms, &level) == 2) {
		record += ms < last;
		last = ms;
		if (record == r->record && steps.n < STEPS_MOST) {
			steps.ms[steps.n] = ms;
			steps.level[steps.n++] = level;
		}
	}
	fclose(f);
	return true;
}

static void steps_begin(const struct recorded_steps *r)
{
	/* Windows of 1200 cycles were off by 0.8%. */
	open_machine((struct machine){.core = steps.level[0] * r->ghz,
				      .ticks = r->ghz,
				      .step = r->step,
				      .jitter = r->step > 2 ? 0 : 10});
	run(200e6);
	steps.k = 0;
	steps.next = now;
	measuring = 0;
}

static void steps_on(double ghz)
{
	if (now < steps.next)
		return;
	on.core = steps.level[steps.k] * ghz;
	steps.next += (steps.ms[steps.k + 1] - steps.ms[steps.k]) * 1e6;
	on.turning = steps.next;
	on.later = steps.level[++steps.k] * ghz;
}

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

static void steps_replay(const struct recorded_steps *r)
{
	/* In the guard a glimpse costs more, and so comes more rarely. */
	const double rarer = CPUC_GLIMPSE_GUARDED ? 1.2 : 1;
	double error[BLOCKS] = {0}, begin, took;
	int n;

	steps_begin(r);
	timed = far = 0;
	begin = now;
	for (n = 0; n < BLOCKS && steps.k < steps.n - 30; n++)
		error[n] = steps_block(r->ghz);
	took = now - begin;
	qsort(error, (size_t)n, sizeof *error, compare);
	ok(n > 100 && error[n * 9 / 10] < r->p90 * rarer &&
		   error[n - 1] < r->worst && up,
	   "%s, %d steps: %d blocks of 10 ms are %.3f%% off, 90th percentile "
	   "%.3f%%, worst %.3f%%",
	   r->core, steps.k, n, error[n / 2] * 100, error[n * 9 / 10] * 100,
	   error[n - 1] * 100);
	ok(measuring < r->share * took, "in %.2f%% of the time",
	   measuring / took * 100);
	ok(far <= r->far * timed,
	   "a ratio more than 1%% off in %.3f%% of the timings",
	   far * 100. / timed);
}

int main(void)
{
	const unsigned seeds = machine_prepare();
	const struct recorded_steps *r;

	for (r = recorded; r < recorded + COUNT(recorded); r++) {
		if (!steps_read(r)) {
			skip("no %s here", r->file);
			continue;
		}
		for (seed = 0; seed < seeds; seed++)
			steps_replay(r);
	}
	return done_testing();
}
