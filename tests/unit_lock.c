/* SPDX-License-Identifier: 0BSD */
/* What comes at any instruction of the engine's lock and of a thread's guard: a
 * handler that takes the lock, too, and the thread's cancellation. */
#include <config.h>
#include "tap.h"
#if defined __linux__ && defined __x86_64__
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

int open_sigmask(int how, const sigset_t *set, sigset_t *was);
bool open_sys_mask(int how, const sigset_t *set, sigset_t *was);
#define pthread_sigmask open_sigmask
#define cpuc_sys_mask open_sys_mask
#define cpuc_sys_sleep pretended_sleep
#include "../src/thread/lock.c"
#undef pthread_sigmask
#include "single_steps.h"

/* Blocks SIGTRAP as little as SIGSYS: the handlers come by it. Else as the
 * engine wants it, with the C library's signals or without. */
bool open_sys_mask(int how, const sigset_t *set, sigset_t *was)
{
	sigset_t most = *set;

	sigdelset(&most, SIGTRAP);
	return syscall(SYS_rt_sigprocmask, how, &most, was, 8L) == 0;
}

int open_sigmask(int how, const sigset_t *set, sigset_t *was)
{
	sigset_t most = *set;

	sigdelset(&most, SIGTRAP);
	return pthread_sigmask(how, &most, was);
}

void pretended_sleep(long ns)
{
	(void)ns;
	exit(!ok(0, "a handler waits for its own thread"));
}

static void (*volatile act)(void); /* after so many steps */

static void stepped(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (steps_made(context))
		act();
}

static volatile bool held; /* by the code that is interrupted */
static volatile int given, refused, wrong;

/* As a handler of SIGSYS whose count is the thread's first. */
static void take(void)
{
	struct cpuc_caller caller;
	const int err = cpuc_lock(&caller);

	if (err == 0)
		cpuc_unlock(&caller);
	given += err == 0;
	refused += err == -EDEADLK;
	wrong += err == 0 ? held : err != -EDEADLK;
}

static void take_and_give(void)
{
	struct cpuc_caller caller;

	__asm__ volatile("int3");
	wrong += cpuc_lock(&caller) != 0;
	held = true;
	CPUC_FENCE();
	held = false;
	cpuc_unlock(&caller);
}

/* Whether the handler came. */
static bool at_step(long step, void (*what)(void), void (*then)(void))
{
	bool came;

	act = then;
	steps = step;
	what();
	came = steps == 0;
	steps = 0;
	return came;
}

static bool at_third(void)
{
	return at_step(3, take_and_give, take);
}

static void check_handler(void)
{
	sigset_t before, after;
	long step;

	pthread_sigmask(SIG_BLOCK, NULL, &before);
	given = refused = wrong = 0;
	for (step = 1; at_step(step, take_and_give, take); step++) {
		pthread_sigmask(SIG_BLOCK, NULL, &after);
		wrong += lock_inside != 0 || !(lock_holder & LOCK_FREE) ||
			 sigismember(&after, SIGALRM) !=
				 sigismember(&before, SIGALRM);
	}
	ok(wrong == 0 && given > 0 && refused > 0,
	   "a handler that takes the lock, at %ld instructions of taking and "
	   "giving it: it has it %d times, and never waits",
	   step - 1, given);
}

/* A thread that is cancelled, asynchronously, at this step of something. What
 * its cleanup handlers and destructors find is as it was before. */
static void (*doing)(void);
static long cancel_at;
static volatile bool cancelled;
static enum { BEGUN, ASKED, DONE } stage;
static volatile int looks, stuck;

static void look(void *unused)
{
	sigset_t now;

	(void)unused;
	pthread_sigmask(SIG_BLOCK, NULL, &now);
	looks++;
	stuck += sigismember(&now, SIGUSR1) || !sigismember(&now, SIGUSR2) ||
		 cpuc_guard_inside || lock_inside != 0;
}

/* Asks the main thread, by whose signal it ends here or later. */
static void cancel(void)
{
	cancelled = true;
	__atomic_store_n(&stage, ASKED, __ATOMIC_RELEASE);
	while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) == ASKED)
		sched_yield();
}

static void main_cancels(pthread_t id)
{
	while (__atomic_load_n(&stage, __ATOMIC_ACQUIRE) == BEGUN)
		sched_yield();
	if (stage == ASKED) {
		pthread_cancel(id);
		__atomic_store_n(&stage, DONE, __ATOMIC_RELEASE);
	}
	pthread_join(id, NULL);
}

static void *runs(void *key)
{
	sigset_t mask;
	int old;

	sigemptyset(&mask);
	sigaddset(&mask, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_setspecific(*(pthread_key_t *)key, key);
	pthread_cleanup_push(look, NULL);
	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	at_step(cancel_at, doing, cancel);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	__atomic_store_n(&stage, DONE, __ATOMIC_RELEASE);
	pthread_cleanup_pop(0);
	return NULL;
}

static void guard_once(void)
{
	struct cpuc_guard guard;

	__asm__ volatile("int3");
	cpuc_guard_enter(&guard);
	cpuc_guard_leave(&guard);
}

static void check_cancelled(const char *what, void (*how)(void))
{
	pthread_key_t key;
	pthread_t id;

	doing = how;
	stuck = looks = 0;
	pthread_key_create(&key, look);
	cancel_at = 1;
	do {
		cancelled = false;
		stage = BEGUN;
		if (pthread_create(&id, NULL, runs, &key) != 0)
			break;
		main_cancels(id);
		steps = 0;
	} while (cancelled && cancel_at++ < 100000);
	pthread_key_delete(key);
	ok(stuck == 0 && looks > 2 * 50,
	   "cancelled at each of %ld instructions of %s: of %d cleanups and "
	   "destructors %d find another mask, or the engine in use",
	   cancel_at - 1, what, looks, stuck);
}

int main(void)
{
	const struct sigaction sa = {.sa_sigaction = stepped,
				     .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGTRAP, &sa, NULL);
	if (SANITIZED || !steps_work(at_third))
		skip_all("no single steps here");
	check_handler();
	check_cancelled("the guard", guard_once);
	check_cancelled("the lock", take_and_give);
	return done_testing();
}
#else
SKIPPED_MAIN("single steps are known for x86-64 Linux alone")
#endif
