/* SPDX-License-Identifier: 0BSD */
/* The cost of a call, for every usable counter, against the bare instruction
 * inline in a loop of its own, a function with nothing but that instruction,
 * which is called as a counter is, and clock_gettime. All alternate, so that
 * they see the same machine; each figure is the median of many short rounds. */
#include <config.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "subject.h"

#define TABLE "call"
#define CALLS 5000
#define ROUNDS 401
#define PARALLEL_ROUNDS 201
#define SIGNALS 2000
#define THREADS 64

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

/* The least that a counter can be. */
static long long (*called)(void) = bench_bare;
static const struct subject subject_called = {.count = &called};

struct medians {
	long long bare, called, clock, ours, shared, peer; /* 0: none */
};

static struct medians alternate(struct subject *shared, struct subject *peer)
{
	static long long bare[ROUNDS], call[ROUNDS], clock[ROUNDS];
	static long long ours[ROUNDS], theirs[2][ROUNDS];
	int n = bench_rounds(ROUNDS), i;

	for (i = 0; i < n; i++) {
		bare[i] = time_bare();
		call[i] = time_subject(&subject_called);
		clock[i] = time_clock();
		ours[i] = time_subject(&subject_own);
		theirs[0][i] = shared ? time_subject(shared) : 0;
		theirs[1][i] = peer ? time_subject(peer) : 0;
	}
	return (struct medians){
		stats_median(bare, n),      stats_median(call, n),
		stats_median(clock, n),     stats_median(ours, n),
		stats_median(theirs[0], n), stats_median(theirs[1], n)};
}

/* All threads at once, each phase begun together. */
static struct parallel {
	long long call[THREADS * PARALLEL_ROUNDS];
	long long ours[THREADS * PARALLEL_ROUNDS];
	pthread_barrier_t barrier;
	int rounds;
} parallel;

static void *one_of_many(void *from)
{
	long long *call = from, *ours = parallel.ours + (call - parallel.call);
	int i;

	for (i = 0; i < parallel.rounds; i++) {
		pthread_barrier_wait(&parallel.barrier);
		call[i] = time_subject(&subject_called);
		pthread_barrier_wait(&parallel.barrier);
		ours[i] = time_subject(&subject_own);
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
				   parallel.call + i * rounds) != 0)
			return 0;
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&parallel.barrier);
	return (double)stats_median(parallel.ours, n * rounds) /
	       (double)stats_median(parallel.call, n * rounds);
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

static void print(const char *row, const char *kind, const struct medians *m,
		  long long ps)
{
	bench_value(TABLE, row, "kind", "%s", kind);
	bench_value(TABLE, row, "ns", "%.2f", (double)ps / 1000);
	bench_value(TABLE, row, "of bare", "%.3f",
		    (double)ps / (double)m->bare);
	bench_value(TABLE, row, "of a call", "%.3f",
		    (double)ps / (double)m->called);
	bench_value(TABLE, row, "of clock", "%.3f",
		    (double)ps / (double)m->clock);
}

static void bench(const struct cpucycles_counter *c, bool selected, int threads)
{
	struct subject *shared = subject_shared();
	struct subject *peer = selected ? subject_peer() : NULL;
	struct medians m;
	double parallel_ratio;

	if (shared != NULL && shared->select(c->name) != 0)
		shared = NULL;
	m = alternate(shared, peer);
	if (selected) {
		print("(" BENCH_BARE ")", "bare", &m, m.bare);
		print("(" BENCH_BARE " in a function)", "bare", &m, m.called);
		print("(clock_gettime)", "clock", &m, m.clock);
	}
	print(c->name, c->kind, &m, m.ours);
	if (shared != NULL)
		bench_value(TABLE, c->name, "shared, of a call", "%.3f",
			    (double)m.shared / (double)m.called);
	parallel_ratio = together(threads);
	if (parallel_ratio > 0)
		bench_value(TABLE, c->name, "threads, of a call", "%.3f",
			    parallel_ratio);
	bench_value(TABLE, c->name, "after a signal, ns", "%lld",
		    after_signal());
	if (peer != NULL)
		print(peer->name, "peer", &m, m.peer);
}

int main(void)
{
	struct cpucycles_counter c;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	int threads = n < 2 ? 2 : n > THREADS ? THREADS : (int)n;
	char selected[64] = "";
	unsigned i = 0;

	strncat(selected, cpucycles_implementation(), sizeof selected - 1);
	signal(SIGUSR1, nothing);
	while (subject_next(&i, &c))
		bench(&c, strcmp(c.name, selected) == 0, threads);
	return 0;
}
