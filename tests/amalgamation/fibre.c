/* SPDX-License-Identifier: 0BSD */
/* A fibre counts in a loop, and goes on in another thread after each turn, in a
 * program that was compiled with the two files as one. A compiler that inlines
 * the calls may keep the address of a thread's state from one turn to the next,
 * and the fibre would then change the other thread's: seen by rseq_cs, which
 * the library stores, and by what cpucycles_interruptions() returns. */
#define _GNU_SOURCE
#include "cpucycles.h"
#include <pthread.h>
#include <stdio.h>
#include <sys/rseq.h>
#include <ucontext.h>

#define TURNS 2000

static ucontext_t fibre, thread[2];
static volatile uint64_t *field[2];
static volatile int running; /* the thread that has the fibre */
static pthread_barrier_t next_turn;
static long long answer;
static int stored_elsewhere, stored_here, misread;

static void fibre_main(void)
{
	for (;;) {
		cpucycles();
		answer = cpucycles_interruptions();
		swapcontext(&fibre, &thread[running]);
	}
}

static __attribute__((noinline)) volatile uint64_t *own_field(void)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() +
					    __rseq_offset);

	return (volatile uint64_t *)&area->rseq_cs;
}

/* The other thread waits meanwhile, so nothing but the fibre can change its
 * field from 0. */
static void take_turn(int self)
{
	volatile uint64_t *other = field[1 - self];

	*other = *field[self] = 0;
	running = self;
	swapcontext(&thread[self], &fibre);
	stored_elsewhere += *other != 0;
	stored_here += *field[self] != 0;
	misread += (answer >= 0) != (__rseq_size > 0);
}

static void *thread_main(void *arg)
{
	const int self = *(int *)arg;
	int turn;

	field[self] = own_field();
	for (turn = 0; turn < TURNS; turn++) {
		pthread_barrier_wait(&next_turn);
		if (turn % 2 == self)
			take_turn(self);
	}
	return NULL;
}

int main(void)
{
	static char stack[256 * 1024];
	int self[2] = {0, 1};
	pthread_t id[2];

	pthread_barrier_init(&next_turn, NULL, 2);
	getcontext(&fibre);
	fibre.uc_stack.ss_sp = stack;
	fibre.uc_stack.ss_size = sizeof stack;
	makecontext(&fibre, fibre_main, 0);
	if (pthread_create(&id[0], NULL, thread_main, &self[0]) != 0 ||
	    pthread_create(&id[1], NULL, thread_main, &self[1]) != 0)
		return 2;
	pthread_join(id[0], NULL);
	pthread_join(id[1], NULL);
	printf("%d of %d turns stored in their thread, %d in the other; "
	       "%d wrong results\n",
	       stored_here, TURNS, stored_elsewhere, misread);
	return stored_elsewhere > 0 || misread > 0 ||
	       (__rseq_size > 0 && stored_here < TURNS / 2);
}
