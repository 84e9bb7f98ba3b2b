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
#define ROUNDS 201
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

/* All threads at once, each phase begun together. */
static struct {
	long long ps[SUBJECTS][THREADS * ROUNDS];
	pthread_barrier_t barrier;
	int rounds;
} all;

static void *alternate(void *ps)
{
	const long first = (long long *)ps - all.ps[0];
	int i, s;

	for (i = 0; i < all.rounds; i++)
		for (s = 0; s < SUBJECTS; s++) {
			pthread_barrier_wait(&all.barrier);
			all.ps[s][first + i] = time_calls(subjects[s]);
		}
	return NULL;
}

/* A call of each in so many threads at once. */
static void together(int n, double median[SUBJECTS])
{
	pthread_t thread[THREADS];
	int i;

	all.rounds = bench_rounds(ROUNDS);
	pthread_barrier_init(&all.barrier, NULL, (unsigned)n);
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, alternate,
				   all.ps[0] + i * all.rounds) != 0)
			bench_skip("there are not so many threads");
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&all.barrier);
	for (i = 0; i < SUBJECTS; i++)
		median[i] = (double)stats_median(all.ps[i], n * all.rounds);
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
	double median[SUBJECTS];

	together(1, median);
	print("(" BENCH_BARE " in a function)", "bare", median[BARE],
	      median[BARE]);
	print("(clock_gettime)", "clock", median[CLOCK], median[BARE]);
	print(c->name, c->kind, median[OWN], median[BARE]);
	together(threads, median);
	bench_value(TABLE, c->name, "threads, of a call", "%.3f",
		    median[OWN] / median[BARE]);
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
