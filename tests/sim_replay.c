/* SPDX-License-Identifier: 0BSD */
/* A calibrated count on recordings of real cores: the steps of their rates, and
 * windows. SIM_SEEDS times each, 4 if it is not set. */
#include "sim_machine.h"

static unsigned seeds = 4;

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static FILE *open_recorded(const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/%s", top ? top : "..", name);
	f = fopen(path, "r");
	if (f == NULL)
		skip("no %s here", path);
	return f;
}

/* The steps of a real core's rate: the time of each in ms, and the rate from
 * then on over the clock's. Limits of what must hold for their replay: the part
 * of the time at a rate that is more than 1% off, the errors of blocks of 10
 * ms, and the share of the time. */
#define STEPS_MOST 2000
#define BLOCKS 600
#define BLOCK_NS 10e6
#define TIMED 30000 /* cycles */

static const struct recorded_steps {
	const char *core, *file;
	int record; /* in the file, from 0 on */
	double ghz, step, far, p90, worst, share;
} recorded[] = {
	{"a Granite Rapids", "rate-steps.txt", 0, 2.6, 1, 0.02, 0.0008, 0.005,
	 0.012},
	/* Where the clock is coarse, glimpses are long, and rare. */
	{"a Granite Rapids, clock steps of 26 ticks", "rate-steps.txt", 0, 2.6,
	 26, 0.2, 0.003, 0.01, 0.013},
	{"a Cascade Lake, other tenants' licences", "rate-steps-licence.txt", 0,
	 2.5, 2, 0.007, 0.0008, 0.005, 0.012},
	{"a Cascade Lake, a quiet host", "rate-steps-licence.txt", 1, 2.5, 2,
	 0.002, 0.0008, 0.005, 0.012},
};

static struct {
	double ms[STEPS_MOST], level[STEPS_MOST];
	int n, k;    /* of these, and how many have been */
	double next; /* when the next one comes */
} steps;

/* A time that is less than the one before begins another record. */
static bool steps_read(const struct recorded_steps *r)
{
	FILE *f = open_recorded(r->file);
	double ms, level, last = 0;
	char comment[2];
	int record = 0;

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

/* The error of a block; adds the time at a rate that is more than 1% off. */
static double steps_block(double ghz, double *far)
{
	double end = now + BLOCK_NS, done = cycles, slow = 0, before, begin;
	uint64_t first = count(), last = first;

	while (now < end) {
		steps_on(ghz);
		begin = now;
		pass(TIMED);
		*far += off() > 0.01 ? now - begin : 0;
		before = on.core;
		begin = measuring;
		last = count();
		slow += (measuring - begin) * before;
	}
	return distance((double)(last - first) / (cycles - done - slow) - 1);
}

static void steps_replay(const struct recorded_steps *r)
{
	/* In the guard a glimpse costs more, and so comes more rarely. */
	const double rarer = CPUC_GLIMPSE_GUARDED ? 1.2 : 1;
	double error[BLOCKS] = {0}, begin, took, far = 0;
	int n;

	steps_begin(r);
	begin = now;
	for (n = 0; n < BLOCKS && steps.k < steps.n - 30; n++)
		error[n] = steps_block(r->ghz, &far);
	took = now - begin;
	qsort(error, (size_t)n, sizeof *error, compare);
	ok(n > 100 && error[n * 9 / 10] < r->p90 * rarer &&
		   error[n - 1] < r->worst && up,
	   "%s, %d steps: %d blocks of 10 ms are %.3f%% off, 90th percentile "
	   "%.3f%%, worst %.3f%%",
	   r->core, steps.k, n, error[n / 2] * 100, error[n * 9 / 10] * 100,
	   error[n - 1] * 100);
	ok(far < r->far * rarer * took,
	   "at a rate more than 1%% off for %.2f%% of it", far / took * 100);
	ok(measuring < r->share * took, "in %.2f%% of the time",
	   measuring / took * 100);
}

static void stepping(void)
{
	const struct recorded_steps *r;
	size_t i;

	for (i = 0; i < sizeof recorded / sizeof *recorded; i++) {
		r = &recorded[i];
		if (!steps_read(r))
			continue;
		for (seed = 0; seed < seeds; seed++)
			steps_replay(r);
		seed = 0;
	}
}

/* Real windows that were recorded: of each host a line with its name, one about
 * the windows, and then groups: a tick, and the ticks of the short and the long
 * run of three windows. */
#define GROUPS 400
#define AROUND 8 /* groups on either side that tell the truth */

static struct recorded {
	char host[256];
	unsigned long long hz;
	unsigned cycles, turns;
	int n, next; /* groups, and windows that were replayed */
	unsigned long long tick[GROUPS], run[GROUPS][3][2];
	double about; /* the ratio */
} record;

static uint64_t replay_now;

static long long replay_tick(void)
{
	return (long long)++replay_now;
}

static void replay_window(uint32_t turns, uint64_t stamp[3])
{
	unsigned long long *run =
		record.run[record.next / 3 % record.n][record.next % 3];

	/* So many links' ticks, in an eighth of the long run, are missing. */
	const double more = ((double)turns - record.turns) * record.cycles / 7 /
			    record.about;

	record.next++;
	stamp[0] = replay_now;
	stamp[1] = replay_now += run[0] + (uint64_t)(int64_t)more;
	stamp[2] = replay_now += run[1] + (uint64_t)(int64_t)(8 * more);
}

/* None were recorded: all are as they should be. */
static void replay_glimpse(uint32_t turns, uint64_t stamp[2])
{
	const double cycles_of = turns * record.cycles / 7. + 40;

	stamp[0] = replay_now;
	stamp[1] = replay_now += (uint64_t)(cycles_of / record.about);
}

/* The ratio around group i: the mean without disturbed windows. */
static double replay_truth(int i)
{
	double v[3 * (2 * AROUND + 1)] = {0}, sum = 0;
	int j, k, n = 0, used = 0;

	for (j = i - AROUND; j <= i + AROUND; j++)
		for (k = 0; k < 3 && j >= 0 && j < record.n; k++)
			v[n++] = (double)(record.run[j][k][1] -
					  record.run[j][k][0]);
	qsort(v, (size_t)n, sizeof *v, compare);
	for (j = 0; j < n; j++)
		if (distance(v[j] / v[n / 2] - 1) < 0.02) {
			sum += v[j];
			used++;
		}
	return record.cycles * record.turns / (sum / used);
}

static void replay_host(void)
{
	struct cpuc_chain chain = {replay_window, replay_glimpse,
				   record.cycles / 7, "imul"};
	struct cpuc_chain_ops real = {&chain, 1, 0};
	struct cpuc_clock by = {
		.tick = replay_tick, .chains = &real, .hz = record.hz};
	double v[GROUPS];
	int i;

	open_machine(usual);
	calibrated_forget();
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
	record.about = replay_truth(AROUND);
	replay_now = record.tick[0];
	record.next = 0;
	if (!ok(cpuc_calibrate(&by, &refusal) == 0, "%s: calibrates",
		record.host))
		return;
	for (i = 0; i < record.n; i++) {
		replay_now = record.tick[i];
		record.next = 3 * i;
		record.about = replay_truth(i);
		calibrated_expire();
		cpuc_count(replay_tick);
		v[i] = distance((double)cpuc_own_count.ratio.mean /
					4294967296. / replay_truth(i) -
				1);
	}
	qsort(v, (size_t)i, sizeof *v, compare);
	ok(v[i / 2] < 0.0006 && v[i * 9 / 10] < 0.0015,
	   "%s: %d groups of windows, the ratio is %.3f%% off, 90th percentile "
	   "%.3f%%",
	   record.host, i, v[i / 2] * 100, v[i * 9 / 10] * 100);
}

/* The next host's; false: there is none. */
static bool replay_read(FILE *f)
{
	unsigned long long *run;

	memset(&record, 0, sizeof record);
	if (fscanf(f,
		   " host %255[^\n] clock %llu Hz, %u cycles a turn, %u turns",
		   record.host, &record.hz, &record.cycles, &record.turns) != 4)
		return false;
	for (; record.n < GROUPS; record.n++) {
		run = record.run[record.n][0];
		if (fscanf(f, "%llu %llu %llu %llu %llu %llu %llu",
			   &record.tick[record.n], run, run + 1, run + 2,
			   run + 3, run + 4, run + 5) != 7)
			break;
	}
	return true;
}

static void replay(void)
{
	FILE *f = open_recorded("windows.txt");

	while (f != NULL && replay_read(f))
		replay_host();
	if (f != NULL)
		fclose(f);
}

int main(void)
{
	const char *text = getenv("SIM_SEEDS");

	machine_prepare();
	if (text != NULL)
		seeds = (unsigned)atoi(text);
	stepping();
	replay();
	return done_testing();
}
