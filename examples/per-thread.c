/* SPDX-License-Identifier: 0BSD */
/* Each thread counts its own work: cc -O2 -pthread per-thread.c -lcpucycles
 *
 * Subtract only counts of the same thread: those of different threads may be
 * unrelated. Counters that read perf events count the thread alone; the others
 * go on while other threads have the CPU. */
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

	cpucycles(); /* the first call selects the counter */
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
	printf("counted by %s (%s)\n", cpucycles_implementation(),
	       cpucycles_kind());
	return 0;
}
