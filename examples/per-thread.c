/* SPDX-License-Identifier: 0BSD */
/* Each thread counts its own work: cc -O2 -pthread per-thread.c -lcpucycles
 *
 * Subtract only counts of the same thread. Those of different threads have
 * nothing to do with each other: calibrated ones drift apart by milliseconds a
 * second under load. Some counters count the thread alone; the others go on
 * while other threads have the CPU. The last line says which holds here. */
#include <pthread.h>
#include <stdio.h>
#include <cpucycles.h>

#define THREADS 4

struct work {
	pthread_t thread;
	unsigned rounds;
	long long cycles;
};

static void *run(void *argument)
{
	struct work *work = argument;

	cpucycles(); /* a thread's first call may take longer */
	long long start = cpucycles();
	for (volatile unsigned i = 0; i < work->rounds; i++)
		;
	work->cycles = cpucycles() - start;
	return NULL;
}

int main(void)
{
	struct work work[THREADS];
	struct cpucycles_counter c;

	/* Selects the counter, before the threads need one. */
	cpucycles_counterbyname(NULL, &c, sizeof c);
	for (unsigned i = 0; i < THREADS; i++) {
		struct work *w = &work[i];
		w->rounds = 250000 * (i + 1);
		if (pthread_create(&w->thread, NULL, run, w) != 0)
			return 1;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(work[i].thread, NULL);
		printf("thread %u: %lld cycles for %u rounds\n", i,
		       work[i].cycles, work[i].rounds);
	}
	printf("%s (%s) %s\n", c.name, c.kind,
	       c.per_thread ? "counts each thread alone"
			    : "goes on while other threads have the CPU");
	return 0;
}
