/* SPDX-License-Identifier: 0BSD */
/* The cost of a call, for every usable counter, against the bare instruction
 * inline in a loop of its own and clock_gettime. All alternate, so that they
 * see the same machine; each figure is the median of many short rounds. */
#include <config.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "subject.h"

#define TABLE "call"
#define CALLS 5000
#define ROUNDS 401
#define PARALLEL_ROUNDS 201
#define THREADS 64

enum { BARE, CLOCK, SUBJECTS, ALL = SUBJECTS + 4 };

/* Picoseconds a call. */
static long long time_bare(void)
{
	long long t = bench_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		(void)bench_bare();
	return (bench_ns() - t) * 1000 / CALLS;
}

static long long time_clock(void)
{
	struct timespec now;
	long long t = bench_ns();
	int i;

	for (i = 0; i < CALLS; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	return (bench_ns() - t) * 1000 / CALLS;
}

static long long time_subject(const struct subject *s)
{
	long long (**count)(void) = s->count, t;
	int i;

	/* After a pause, as between rounds, a calibrated counter measures the
	 * core's rate anew: microseconds, which are not of each call. */
	(void)(*count)();
	t = bench_ns();
	for (i = 0; i < CALLS; i++)
		(void)__atomic_load_n(count, __ATOMIC_RELAXED)();
	return (bench_ns() - t) * 1000 / CALLS;
}

/* The medians of the bare instruction, the clock and n subjects. */
static void alternate(struct subject *const *s, int n, long long *median)
{
	static long long ps[ALL][ROUNDS];
	int rounds = bench_rounds(ROUNDS), i, j;

	for (i = 0; i < rounds; i++) {
		ps[BARE][i] = time_bare();
		ps[CLOCK][i] = time_clock();
		for (j = 0; j < n; j++)
			ps[SUBJECTS + j][i] = time_subject(s[j]);
	}
	for (j = 0; j < SUBJECTS + n; j++)
		median[j] = bench_median(ps[j], rounds);
}

/* All threads at once, each phase begun together. */
static struct parallel {
	long long ps[2][THREADS * PARALLEL_ROUNDS];
	pthread_barrier_t barrier;
	int rounds;
} parallel;

static void *one_of_many(void *arg)
{
	long long *ps = arg;
	int i;

	for (i = 0; i < parallel.rounds; i++) {
		pthread_barrier_wait(&parallel.barrier);
		ps[i] = time_bare();
		pthread_barrier_wait(&parallel.barrier);
		ps[i + THREADS * PARALLEL_ROUNDS] = time_subject(&subject_own);
	}
	return NULL;
}

/* The medians of the bare instruction and a call, or 0. */
static int together(int n, long long *median)
{
	pthread_t thread[THREADS];
	int i, rounds = parallel.rounds = bench_rounds(PARALLEL_ROUNDS);

	pthread_barrier_init(&parallel.barrier, NULL, (unsigned)n);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, one_of_many,
				   parallel.ps[0] + i * rounds) != 0)
			return 0;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&parallel.barrier);
	for (i = 0; i < 2; i++)
		median[i] = bench_median(parallel.ps[i], n * rounds);
	return 1;
}

static void print(const char *row, const char *kind, const long long *median,
		  long long ps, double hz)
{
	double ns = (double)ps / 1000;

	bench_value(TABLE, row, "kind", "%s", kind);
	bench_value(TABLE, row, "ns", "%.2f", ns);
	if (hz > 0)
		bench_value(TABLE, row, "cycles", "%.1f", ns * hz / 1e9);
	bench_value(TABLE, row, "of bare", "%.3f",
		    (double)ps / (double)median[BARE]);
	bench_value(TABLE, row, "of clock", "%.3f",
		    (double)ps / (double)median[CLOCK]);
}

static double core_rate(void)
{
	return (double)cpucycles_observepersecond();
}

static void bench(const struct cpucycles_counter *c, bool selected, int threads)
{
	struct subject *s[4] = {&subject_own}, *p;
	long long median[ALL], parallel_median[2];
	int n = 1, shared = 0, peers;
	double hz = core_rate();

	bench_progress("a call:", c->name);
	if (subject_shared() && subject_shared()->select(c->name) == 0) {
		shared = n;
		s[n++] = subject_shared();
	}
	peers = n;
	for (p = subject_peers(); selected && p->count; p++)
		s[n++] = p;
	alternate(s, n, median);
	hz = (hz + core_rate()) / 2;
	if (selected) {
		print("(" BENCH_BARE ")", "bare", median, median[BARE], hz);
		print("(clock_gettime)", "clock", median, median[CLOCK], hz);
	}
	print(c->name, c->kind, median, median[SUBJECTS], hz);
	if (shared)
		bench_value(TABLE, c->name, "shared, of bare", "%.3f",
			    (double)median[SUBJECTS + shared] /
				    (double)median[BARE]);
	if (together(threads, parallel_median))
		bench_value(TABLE, c->name, "threads, of bare", "%.3f",
			    (double)parallel_median[1] /
				    (double)parallel_median[0]);
	for (; peers < n; peers++)
		print(s[peers]->name, "peer", median, median[SUBJECTS + peers],
		      hz);
}

int main(void)
{
	struct cpucycles_counter c;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	int threads = n < 2 ? 2 : n > THREADS ? THREADS : (int)n;
	char selected[64] = "";
	unsigned i = 0;

	strncat(selected, cpucycles_implementation(), sizeof selected - 1);
	bench_title(TABLE,
		    "1. A call, for every usable counter (selected here: %s)",
		    selected);
	bench_note(
		TABLE,
		"Medians of %d rounds of %d calls; of bare: in proportion to "
		"%s inline in such a loop, in the same rounds, by the linked "
		"and by the shared library; threads: of %d at once, in "
		"proportion to as many with the bare instruction",
		bench_rounds(ROUNDS), CALLS, BENCH_BARE, threads);
	while (subject_next(&i, &c))
		bench(&c, strcmp(c.name, selected) == 0, threads);
	bench_progress("", "");
	return 0;
}
