/* SPDX-License-Identifier: 0BSD */
/* What comes at any instruction of the engine's lock and of a thread's guard: a
 * handler that takes the lock, too. */
#include <config.h>
#include "tap.h"
#if defined __linux__ && defined __x86_64__
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

static int open_sigmask(int how, const sigset_t *set, sigset_t *was);
#define pthread_sigmask open_sigmask
#define cpuc_sys_sleep pretended_sleep
#include "../src/thread/lock.c"
#undef pthread_sigmask
#include "single_steps.h"

/* Blocks SIGTRAP as little as SIGSYS: the handlers come by it. */
static int open_sigmask(int how, const sigset_t *set, sigset_t *was)
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

int main(void)
{
	const struct sigaction sa = {.sa_sigaction = stepped,
				     .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGTRAP, &sa, NULL);
	if (SANITIZED || !steps_work(at_third))
		skip_all("no single steps here");
	check_handler();
	return done_testing();
}
#else
SKIPPED_MAIN("single steps are known for x86-64 Linux alone")
#endif
