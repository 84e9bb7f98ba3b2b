/* SPDX-License-Identifier: 0BSD */
/* The cost of a call, for every usable counter, against a function with nothing
 * but the bare instruction, which is called as a counter is, and the system's
 * clock. All alternate, so that they see the same machine; each figure is the
 * median of many short rounds. */
#include <config.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include "bench.h"

#define TABLE "call"
#define CALLS 5000
#define ROUNDS 401
#define PARALLEL_ROUNDS 201
#define SIGNALS 2000
#define THREADS 64

typedef long long (*reader)(void);

static reader bare = bench_bare, clock_ns = bench_ns;

/* Pointers, as a program's call of cpucycles() finds it. */
enum { BARE, CLOCK, OWN, SUBJECTS };
static reader *const subjects[SUBJECTS] = {&bare, &clock_ns, &cpucycles};
/* Picoseconds a call. */
static long long time_calls(const reader *count)
{
	long long t;
	int i;

	/* After a pause, as between rounds, a calibrated counter measures the
	 * core's rate anew: microseconds, which are not of each call. */
	(void)(*count)();
	t = bench_ns();
	for (i = 0; i < CALLS; i++)
		(void)__atomic_load_n(count, __ATOMIC_RELAXED)();
	return (bench_ns() - t) * 1000 / CALLS;
}

static void alternate(double median[SUBJECTS])
{
	static long long ps[SUBJECTS][ROUNDS];
	int n = bench_rounds(ROUNDS), i, s;

	for (i = 0; i < n; i++)
		for (s = 0; s < SUBJECTS; s++)
			ps[s][i] = time_calls(subjects[s]);
	for (s = 0; s < SUBJECTS; s++)
		median[s] = (double)stats_median(ps[s], n);
}

/* All threads at once, each phase begun together. */
static struct parallel {
	long long bare[THREADS * PARALLEL_ROUNDS];
	long long own[THREADS * PARALLEL_ROUNDS];
	pthread_barrier_t barrier;
	int rounds;
} parallel;

static void *one_of_many(void *from)
{
	long long *least = from, *own = parallel.own + (least - parallel.bare);
	int i;

	for (i = 0; i < parallel.rounds; i++) {
		pthread_barrier_wait(&parallel.barrier);
		least[i] = time_calls(&bare);
		pthread_barrier_wait(&parallel.barrier);
		own[i] = time_calls(&cpucycles);
	}
	return NULL;
}

/* A call in so many threads at once, in proportion to the least one in as many;
 * 0: there are not so many threads. */
static double together(int n)
{
	pthread_t thread[THREADS];
	int i, rounds = parallel.rounds = bench_rounds(PARALLEL_ROUNDS);

	pthread_barrier_init(&parallel.barrier, NULL, (unsigned)n);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, one_of_many,
				   parallel.bare + i * rounds) != 0)
			return 0;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&parallel.barrier);
	return (double)stats_median(parallel.own, n * rounds) /
	       (double)stats_median(parallel.bare, n * rounds);
}

static void nothing(int sig)
{
	(void)sig;
}

/* The median time of a call right after a signal was handled. */
static long long after_signal(void)
{
	static long long v[SIGNALS + 1];
	int i, n = bench_rounds(SIGNALS);
	long long t;

	for (i = 0; i < n; i++) {
		raise(SIGUSR1);
		t = bench_ns();
		cpucycles();
		v[i] = bench_ns() - t;
	}
	return stats_median(v, n);
}

static void print(const char *row, const char *kind, double ps, double least)
{
	bench_value(TABLE, row, "kind", "%s", kind);
	bench_value(TABLE, row, "ns", "%.2f", ps / 1000);
	bench_value(TABLE, row, "of a call", "%.3f", ps / least);
}

static void bench(const struct cpucycles_counter *c, int threads)
{
	double median[SUBJECTS], ratio;

	alternate(median);
	print("(" BENCH_BARE " in a function)", "bare", median[BARE],
	      median[BARE]);
	print("(clock_gettime)", "clock", median[CLOCK], median[BARE]);
	print(c->name, c->kind, median[OWN], median[BARE]);
	ratio = together(threads);
	if (ratio > 0)
		bench_value(TABLE, c->name, "threads, of a call", "%.3f",
			    ratio);
	bench_value(TABLE, c->name, "after a signal, ns", "%lld",
		    after_signal());
}

int main(void)
{
	struct cpucycles_counter c;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	int threads = n < 2 ? 2 : n > THREADS ? THREADS : (int)n;
	unsigned i = 0;

	signal(SIGUSR1, nothing);
	while (bench_next(&i, &c))
		bench(&c, threads);
	return 0;
}
