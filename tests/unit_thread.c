/* SPDX-License-Identifier: 0BSD */
/* A thread's memory lasts as long as destructors may use it. */
#include <config.h>
#include "tap.h"
#ifdef _WIN32
SKIPPED_MAIN("threads have no memory on Windows")
#else
#include <pthread.h>
#include <stdatomic.h>
#include "thread/thread.h"

/* Atomic for ThreadSanitizer, which takes a thread for ended before. */
static atomic_int rounds, lasts;

static void ended(void *memory, bool last)
{
	int *n = memory;

	rounds += ++*n == rounds + 1;
	lasts += last;
}

static void *remembers(void *unused)
{
	(void)unused;
	return cpuc_thread_memory(sizeof(int), ended);
}

int main(void)
{
	pthread_t id;
	void *memory = NULL;

	ok(cpuc_thread_prepare() == 0, "memory for threads");
	if (pthread_create(&id, NULL, remembers, NULL) != 0)
		skip_all("no thread");
	pthread_join(id, &memory);
	ok(memory != NULL, "a thread gets some");
	ok(rounds == 4 && lasts == 1,
	   "its destructor is called in %d rounds, %d is the last",
	   atomic_load(&rounds), atomic_load(&lasts));
	return done_testing();
}
#endif
