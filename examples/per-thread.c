/* SPDX-License-Identifier: 0BSD */
/* Each thread counts its own work:
 * cc -O2 -pthread per-thread.c -lcpucycles && ./a.out
 *
 * A round takes 6 cycles on x86, two multiplications of 3 cycles each, so it
 * prints 300100 cycles or so for the first thread, and two, three and four
 * times as many for the others.
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
	unsigned rounds, number;
	long long cycles;
};

static void *run(void *argument)
{
	struct work *work = argument;
	unsigned x;

	cpucycles(); /* a thread's first call may take longer */
	long long start = cpucycles();
	cpucycles_fence();
	x = work->number;
	for (unsigned i = 0; i < work->rounds; i++)
		x *= x * x; /* waits for the round before */
	work->number = x;   /* or the compiler would leave it all out */
	cpucycles_fence();
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
		w->rounds = 50000 * (i + 1);
		w->number = 3;
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
