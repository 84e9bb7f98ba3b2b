/* SPDX-License-Identifier: 0BSD */
/* Substitutes for parts of POSIX that tests need and some system lacks. Include
 * it after the system's headers. */
#ifndef PORTABLE_H
#define PORTABLE_H

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* macOS. */
#if !defined _POSIX_BARRIERS || _POSIX_BARRIERS <= 0
#define pthread_barrier_t struct barrier
#define pthread_barrier_init(b, attributes, n) barrier_init(b, n)
#define pthread_barrier_wait barrier_wait

struct barrier {
	pthread_mutex_t mutex;
	pthread_cond_t open;
	unsigned n, waiting, times;
};

__attribute__((unused)) static void barrier_init(struct barrier *b, unsigned n)
{
	pthread_mutex_init(&b->mutex, NULL);
	pthread_cond_init(&b->open, NULL);
	b->n = n;
	b->waiting = b->times = 0;
}

__attribute__((unused)) static void barrier_wait(struct barrier *b)
{
	unsigned times;

	pthread_mutex_lock(&b->mutex);
	times = b->times;
	if (++b->waiting == b->n) {
		b->waiting = 0;
		b->times++;
		pthread_cond_broadcast(&b->open);
	}
	while (b->times == times)
		pthread_cond_wait(&b->open, &b->mutex);
	pthread_mutex_unlock(&b->mutex);
}
#endif

/* macOS and OpenBSD have neither sigqueue(3) nor real-time signals. */
#if defined _POSIX_REALTIME_SIGNALS && _POSIX_REALTIME_SIGNALS > 0
#define HAS_SIGQUEUE 1
#define FIRST_REALTIME SIGRTMIN
#else
#define HAS_SIGQUEUE 0
#define FIRST_REALTIME 32
#endif

/* OpenBSD counts what mmap(2) gives as data. */
#ifndef RLIMIT_AS
#define RLIMIT_AS RLIMIT_DATA
#endif

#endif
