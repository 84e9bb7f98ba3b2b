/* SPDX-License-Identifier: 0BSD */
/* The cost of a thread's counting: of many threads, all there at once, with and
 * without a count of their own, each time in a fresh process, so that no memory
 * is left of earlier threads. */
#include <config.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
#include "bench.h"
#include "cpucycles.h"

#define THREADS 1000
#define STACK (64 * 1024)
#define ROUNDS 21

struct cost {
	long long ns, bytes; /* a thread */
};

static pthread_barrier_t all_there, memory_read;
static bool counting;

static void *body(void *unused)
{
	if (counting)
		cpucycles();
	pthread_barrier_wait(&all_there);
	pthread_barrier_wait(&memory_read);
	return unused;
}

/* Resident memory; 0: unknown. */
static long long memory(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (f == NULL)
		return 0;
	if (fscanf(f, "%*s %ld", &pages) != 1)
		pages = 0;
	fclose(f);
	return (long long)pages * sysconf(_SC_PAGESIZE);
}

static void measure(void *result)
{
	struct cost *cost = result;
	static pthread_t thread[THREADS];
	long long ns, bytes;
	pthread_attr_t attr;
	int i;

	/* The first call is not of the threads. */
	cpucycles();
	pthread_barrier_init(&all_there, NULL, THREADS + 1);
	pthread_barrier_init(&memory_read, NULL, THREADS + 1);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	bytes = memory();
	ns = bench_ns();
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], &attr, body, NULL) != 0)
			_exit(1);
	pthread_barrier_wait(&all_there);
	cost->bytes = (memory() - bytes) / THREADS;
	pthread_barrier_wait(&memory_read);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	cost->ns = (bench_ns() - ns) / THREADS;
}

int main(void)
{
	static const char *const row[] = {"without a count", "with a count"};
	static long long ns[2][ROUNDS], bytes[2][ROUNDS];
	struct cost cost;
	int i, j, n = bench_rounds(ROUNDS);

	for (i = 0; i < n; i++)
		for (j = 0; j < 2; j++) {
			counting = j == 1;
			if (!bench_process(measure, &cost, sizeof cost))
				bench_skip("this system lacks 1000 threads");
			ns[j][i] = cost.ns;
			bytes[j][i] = cost.bytes;
		}
	for (j = 0; j < 2; j++) {
		bench_value("threads", row[j], "us", "%.2f",
			    (double)stats_median(ns[j], n) / 1e3);
		bench_value("threads", row[j], "bytes", "%lld",
			    stats_median(bytes[j], n));
	}
	return 0;
}
