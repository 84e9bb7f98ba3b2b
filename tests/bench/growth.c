/* SPDX-License-Identifier: 0BSD */
/* Costs that grow with the number of threads. */
#include <config.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "bench.h"
#include "cpucycles.h"

#define THREADS "growth-threads"
#define MOST 10000
#define STACK (64 * 1024)
#define ROUNDS 5
#define ROUNDS_MOST 1001

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_t thread[MOST];
static int arrived;

struct cost {
	long long ns, bytes;
};

static void *idle(void *unused)
{
	__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return unused;
}

static void *counting(void *unused)
{
	cpucycles();
	return idle(unused);
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

/* n threads, all there at once, created and ended. 0, or -1 where the system
 * does not have so many. */
static int run(void *(*body)(void *), int n, struct cost *cost)
{
	long long begin = bench_ns(), before = memory();
	pthread_attr_t attr;
	int i, made = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	arrived = 0;
	pthread_mutex_lock(&gate);
	while (made < n &&
	       pthread_create(&thread[made], &attr, body, NULL) == 0)
		made++;
	while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < made)
		sched_yield();
	cost->bytes = memory() - before;
	pthread_mutex_unlock(&gate);
	for (i = 0; i < made; i++)
		pthread_join(thread[i], NULL);
	cost->ns = bench_ns() - begin;
	pthread_attr_destroy(&attr);
	return made == n ? 0 : -1;
}

static void bench_threads(int n)
{
	/* Of few threads, as many rounds as make a thousand. */
	static long long ns[2][ROUNDS_MOST], bytes[2][ROUNDS_MOST];
	int i, j, rounds = n < 1000 ? (1000 / n) | 1 : ROUNDS;
	struct cost cost;
	char row[16];
	double us[2];

	snprintf(row, sizeof row, "%d", n);
	bench_progress("growth: threads,", row);
	if (getenv("BENCH_QUICK"))
		rounds = 1;
	/* Memory that earlier threads left behind serves both alike. */
	if (run(counting, n, &cost) != 0) {
		bench_note(THREADS, "This system does not have %d threads", n);
		return;
	}
	for (i = 0; i < rounds; i++)
		for (j = 0; j < 2; j++) {
			run(j ? counting : idle, n, &cost);
			ns[j][i] = cost.ns;
			bytes[j][i] = cost.bytes;
		}
	for (j = 0; j < 2; j++)
		us[j] = (double)bench_median(ns[j], rounds) / 1e3 / n;
	bench_value(THREADS, row, "us without", "%.2f", us[0]);
	bench_value(THREADS, row, "us with", "%.2f", us[1]);
	bench_value(THREADS, row, "us of the library", "%.2f", us[1] - us[0]);
	bench_value(THREADS, row, "bytes without", "%lld",
		    bench_median(bytes[0], rounds) / n);
	bench_value(THREADS, row, "bytes with", "%lld",
		    bench_median(bytes[1], rounds) / n);
}

int main(void)
{
	bench_title(THREADS,
		    "6. Growth: threads, all there at once, created and "
		    "ended (%s)",
		    cpucycles_implementation());
	bench_note(THREADS, "A thread's share of the time and of the resident "
			    "memory, without and with a count of its own");
	bench_threads(1);
	bench_threads(10);
	bench_threads(1000);
	bench_threads(MOST);
	bench_progress("", "");
	return 0;
}
