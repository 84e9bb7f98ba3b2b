/* SPDX-License-Identifier: 0BSD */
/* Threads' own variables as they are where the compiler emulates thread-local
 * storage: in pretended threads, with handlers that come at the worst moments,
 * and in real threads, with their ends and forks. */
#include <config.h>
#undef HAVE_EMULATED_TLS
#define HAVE_EMULATED_TLS 1
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "portable.h"
#include "tap.h"

/* The thread that the calling one pretends to be; 0: none. */
static __thread uintptr_t as;

static uintptr_t pretended_self(void)
{
	return as != 0 ? as : (uintptr_t)pthread_self();
}

/* Comes once, just before the table changes, or after a copy. */
static __thread void (*handler)(void);

static void interrupt(void)
{
	void (*now)(void) = handler;

	handler = NULL;
	if (now != NULL)
		now();
}

/* The analyser does not know that constructors have run. */
#if defined __GNUC__ && !defined __clang__ && __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Wanalyzer-null-argument"
#endif

#define cpuc_own_self pretended_self
#define __atomic_compare_exchange_n(...) \
	(interrupt(), __atomic_compare_exchange_n(__VA_ARGS__))
#undef memcpy
#define memcpy(...) ((memcpy)(__VA_ARGS__), interrupt())
#include "../src/thread/thread_local.c"
#undef memcpy
#undef __atomic_compare_exchange_n

/* The first to be copied. */
#define NEW 7
static CPUC_OWN_DEFINE(unsigned, number, NEW);
#define number CPUC_OWN(number)

#include "../src/thread/thread.c"

#define A ((uintptr_t)0x10000)
static uintptr_t neighbours[8]; /* other threads with A's home */

static void find_neighbours(void)
{
	uintptr_t self = A;
	unsigned n = 0;

	while (n < 8) {
		self += 16;
		if (cpuc_own_home(self) == cpuc_own_home(A))
			neighbours[n++] = self;
	}
}

static unsigned held(uintptr_t self)
{
	unsigned i, n = 0;

	for (i = 0; i < CPUC_OWN_ALL; i++)
		n += cpuc_own_thread[i] == self;
	return n;
}

static unsigned not_new(void)
{
	unsigned i, n = 0;

	for (i = 0; i < CPUC_OWN_ALL; i++)
		n += number_each[i] != NEW;
	return n;
}

static void forget_all(void)
{
	unsigned i;

	as = 0;
	memset(cpuc_own_thread, 0, sizeof cpuc_own_thread);
	for (i = 0; i < CPUC_OWN_ALL; i++)
		number_each[i] = NEW;
}

static void check_strides(void)
{
	static const unsigned strides[] = {16, 64, 1312, 4096, 65536, 0x101000};
	const unsigned half = 1 << (CPUC_OWN_BITS - 1);
	unsigned i, k, bad;

	for (k = 0; k < sizeof strides / sizeof *strides; k++) {
		bad = 0;
		for (i = 0; i < half; i++) {
			as = A + (uintptr_t)strides[k] * i;
			bad += cpuc_own_none();
			number = 1000 + i;
		}
		for (i = 0; i < half; i++) {
			as = A + (uintptr_t)strides[k] * i;
			bad += number != 1000 + i;
		}
		ok(bad == 0, "%u threads, %u bytes from each other", half,
		   strides[k]);
		forget_all();
	}
}

static void check_full(void)
{
	struct cpuc_guard guard;
	unsigned n = 0, i, before, after;
	sigset_t mask;

	for (as = A; !cpuc_own_none(); as += 4096, n++)
		number = n + 1000;
	ok(number == NEW && !cpuc_guard_enter(&guard),
	   "a thread too many may change nothing");
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	ok(sigismember(&mask, SIGUSR1) == 0, "nor are its signals blocked");
	before = number_each[1];
	for (i = 0, as = A; i < n; i++, as += 4096)
		cpuc_own_end();
	after = number;
	ok(!cpuc_own_none() && before == NEW && after == NEW,
	   "it has its own variables when others have ended");
	forget_all();
}

static void counts(void)
{
	number = 3;
}

/* The handler's place is before the one that the thread is about to take. */
static void counts_before(void)
{
	as = neighbours[0];
	cpuc_own_end();
	as = A;
	number = 3;
}

static void check_handlers(void)
{
	unsigned seen;

	as = A;
	handler = counts;
	seen = number;
	ok(seen == 3 && held(A) == 1, "a handler in a thread's first access");
	handler = counts;
	cpuc_own_end();
	ok(handler == NULL && held(A) == 0 && not_new() == 0,
	   "and in the midst of its end");
	as = neighbours[0];
	number = 1;
	as = A;
	handler = counts_before;
	seen = number;
	ok(seen == 3 && number == 3, "and one that finds a better place");
	cpuc_own_end();
	ok(held(A) == 0 && not_new() == 0,
	   "which holds no second one for good");
	forget_all();
}

static void yields(void)
{
	sched_yield();
}

static void *races(void *arg)
{
	const unsigned id = (unsigned)(uintptr_t)arg;
	unsigned i, bad = 0;

	as = neighbours[id];
	for (i = 0; i < 5000; i++) {
		handler = yields;
		bad += number != NEW;
		number = id;
		sched_yield();
		bad += number != id;
		cpuc_own_end();
	}
	return (void *)(uintptr_t)bad;
}

static void check_race(void)
{
	pthread_t thread[8];
	uintptr_t bad = 0;
	void *result;
	unsigned i;

	for (i = 0; i < 8; i++)
		pthread_create(&thread[i], NULL, races, (void *)(uintptr_t)i);
	for (i = 0; i < 8; i++) {
		pthread_join(thread[i], &result);
		bad += (uintptr_t)result;
	}
	ok(bad == 0, "threads that want the same place");
	forget_all();
}

static pthread_key_t later;
static unsigned rounds;

static void counts_later(void *arg)
{
	number = 5;
	if (++rounds < 3)
		pthread_setspecific(later, arg);
}

/* Counts once, with these signals blocked, and in destructors. */
static void *ends(void *blocked)
{
	struct cpuc_guard guard;

	pthread_sigmask(SIG_SETMASK, blocked, NULL);
	pthread_setspecific(later, &later);
	if (cpuc_guard_enter(&guard))
		cpuc_guard_leave(&guard);
	number = 4;
	return (void *)pretended_self();
}

/* How often the table names the thread when it has ended. */
static unsigned held_by_ended(sigset_t *blocked)
{
	pthread_t thread;
	void *self;

	rounds = 0;
	pthread_create(&thread, NULL, ends, blocked);
	pthread_join(thread, &self);
	return held((uintptr_t)self);
}

static void check_ends(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	ok(cpuc_process_prepare() == 0 &&
		   pthread_key_create(&later, counts_later) == 0,
	   "threads' ends are noticed");
	ok(held_by_ended(&blocked) == 0 && rounds == 3 && not_new() == 0,
	   "they leave nothing, with destructors that count");
	sigaddset(&blocked, SIGUSR1);
	ok(held_by_ended(&blocked) == 1,
	   "a handler's first count does not call pthread_setspecific()");
	forget_all();
}

static pthread_barrier_t barrier;

static void *stays(void *self)
{
	struct cpuc_guard guard;

	if (cpuc_guard_enter(&guard)) {
		*(uintptr_t *)self = pretended_self();
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		cpuc_guard_leave(&guard);
	}
	return NULL;
}

static void check_fork(void)
{
	uintptr_t self = 0;
	pthread_t thread;
	int status = -1;
	pid_t child;

	number = 6;
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&thread, NULL, stays, &self);
	pthread_barrier_wait(&barrier);
	child = fork();
	if (child == 0) {
		status = number != 6 || held(self) != 0;
		as = self;
		_exit(status || cpuc_guard_inside);
	}
	waitpid(child, &status, 0);
	ok(status == 0, "a child has its own thread's variables alone");
	ok(held(self) == 1, "its parent has them all");
	pthread_barrier_wait(&barrier);
	pthread_join(thread, NULL);
}

int main(void)
{
	find_neighbours();
	check_strides();
	check_full();
	check_handlers();
	check_race();
	if (SANITIZED_THREADS) {
		skip("the sanitizer ends a thread before its destructors");
	} else {
		check_ends();
		check_fork();
	}
	return done_testing();
}
