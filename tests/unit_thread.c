/* SPDX-License-Identifier: 0BSD */
/* A thread's memory lasts as long as destructors may use it. thread.c is
 * included, and the system denies it some calls. */
#include <config.h>
#include "tap.h"
#ifdef _WIN32
SKIPPED_MAIN("threads have no memory on Windows")
#else
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

static int denied_wipe, denied_atfork, denied_value;
static void (*in_child)(void);
static atomic_int unmapped;

static int pretended_atfork(void (*before)(void), void (*parent)(void),
			    void (*child)(void))
{
	(void)before;
	(void)parent;
	in_child = child;
	return denied_atfork;
}

/* ThreadSanitizer may take the thread for ended, and fault. */
__attribute__((no_sanitize("thread"))) static int pretended_munmap(void *p,
								   size_t size)
{
	unmapped++;
	return munmap(p, size);
}

#define madvise(p, size, advice) (denied_wipe ? -1 : madvise(p, size, advice))
#define minherit(p, size, how) (denied_wipe ? -1 : minherit(p, size, how))
#define pthread_atfork pretended_atfork
#define pthread_setspecific(key, value) \
	(denied_value ? denied_value : pthread_setspecific(key, value))
#define munmap pretended_munmap
#include "../src/thread/thread.c"

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

/* Blocked, a fault's signal kills. */
static void check_guard(void)
{
	static const int faults[] = {SIGILL,  SIGFPE, SIGBUS,
				     SIGSEGV, SIGSYS, SIGTRAP};
	struct cpuc_guard guard;
	sigset_t mask;
	int i, n = 0;

	cpuc_guard_enter(&guard);
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	cpuc_guard_leave(&guard);
	for (i = 0; i < (int)COUNT(faults); i++)
		n += sigismember(&mask, faults[i]);
	ok(n == 0 && sigismember(&mask, SIGALRM) && sigismember(&mask, SIGTERM),
	   "the guard blocks signals, but for those of faults");
}

/* Linux before 4.14, and macOS. */
static void check_fork_handler(void)
{
	const uint32_t *mark;

	denied_wipe = 1;
	denied_atfork = ENOMEM;
	ok(cpuc_process_prepare() == -ENOMEM && unmapped == 1,
	   "nothing stays mapped that no child would wipe");
	denied_atfork = 0;
	ok(cpuc_process_prepare() == 0 && unmapped == 1,
	   "it stays with a handler of forks");
	mark = cpuc_process_mark();
	in_child();
	ok(*mark == 0 && cpuc_process_mark() != mark,
	   "which wipes the mark, and the child has its own");
}

int main(void)
{
	pthread_t id;
	void *memory = NULL;

	check_guard();
	check_fork_handler();
	ok(cpuc_thread_prepare() == 0, "memory for threads");
	unmapped = 0;
	if (pthread_create(&id, NULL, remembers, NULL) != 0)
		skip_all("no thread");
	pthread_join(id, &memory);
	ok(memory != NULL, "a thread gets some");
	ok(rounds == 4 && lasts == 1 && unmapped == 1,
	   "its destructor is called in %d rounds, %d is the last, then it is "
	   "unmapped",
	   atomic_load(&rounds), atomic_load(&lasts));
	denied_value = EAGAIN;
	ok(remembers(NULL) == NULL && unmapped == 2,
	   "at once, if there is no destructor");
	return done_testing();
}
#endif
