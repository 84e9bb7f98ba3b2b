/* SPDX-License-Identifier: 0BSD */
/* No count of a calibrated counter is below an earlier one of its thread, under
 * signal handlers, jumps, forks, stops and waits: LIVE_SECONDS of each. (In
 * moves between CPUs, by the self-test's check of that name.) */
#include "load.h"

#include <setjmp.h>
#include <sys/syscall.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define EVENTS 10 /* of a scenario, from which on it has happened */
#define LATE 30   /* s after which it has not, on an overloaded machine */
#define BATCH 64  /* counts between two looks at the clock */
#define TIMERS 2
#define LEVELS 8 /* of handlers that interrupt each other, and below them */
#define JUMPS_A_SLEEP 61
#define SIGNALS_A_FORK 100

/* The history of a thread at one level: of the code of main, of a handler, of a
 * handler that interrupted this, and so on. Only code of this level writes it.
 * It turns to the other copy when that is whole, so that a handler can read it.
 */
struct level {
	volatile long long highest[2];
	volatile sig_atomic_t copy;
};

static __thread struct {
	struct level level[LEVELS];
	volatile sig_atomic_t depth, timers, ending;
	volatile unsigned long events; /* jumps or signals */
	timer_t timer[TIMERS];
} me;

/* What a scenario's threads and children find, where the parent can read it. */
static struct result {
	unsigned long back;
	long long fall;
} * result;

static double begun;

/* Compares a count with the highest of all calls that have ended. */
static void step(void)
{
	struct level *here = &me.level[me.depth], *l;
	long long before = 0, now;

	for (l = me.level; l < me.level + LEVELS; l++)
		if (l->highest[l->copy] > before)
			before = l->highest[l->copy];
	now = cpucycles();
	if (now < before) {
		__atomic_fetch_add(&result->back, 1, __ATOMIC_RELAXED);
		result->fall = before - now;
		return;
	}
	here->highest[!here->copy] = now;
	here->copy = !here->copy;
}

static void steps(int n)
{
	while (n-- > 0)
		step();
}

/* A thread that has hardly run goes on until its events have happened. */
static bool over(void)
{
	double took = (wall_ns() - begun) / 1e9;

	return took > load_seconds + LATE ||
	       (took > load_seconds && me.events >= EVENTS);
}

static void handle(int sig, void (*handler)(int), int flags)
{
	struct sigaction act = {.sa_handler = handler, .sa_flags = flags};

	sigaction(sig, &act, NULL);
}

static void stop_timers(void)
{
	static const struct itimerspec never;

	while (me.timers > 0)
		timer_settime(me.timer[--me.timers], 0, &never, NULL);
}

/* Signals the calling thread alone. */
static void start_timer(int sig, long hz)
{
	const struct timespec period = {0, 1000000000 / hz};
	const struct itimerspec every = {period, period};
	timer_t *timer = &me.timer[me.timers];
	struct sigevent event;

	memset(&event, 0, sizeof event);
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = sig;
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	if (timer_create(CLOCK_MONOTONIC, &event, timer) == 0 &&
	    timer_settime(*timer, 0, &every, NULL) == 0)
		me.timers++;
}

/* Counts until the scenario is over; what its process ends with. */
static int follow(void)
{
	while (!over())
		steps(BATCH);
	me.ending = 1;
	stop_timers();
	return me.events < EVENTS;
}

static sigjmp_buf out;

/* Some handlers count before they jump, some after a sleep, some not at all. */
static void jump(int sig)
{
	(void)sig;
	if (me.ending)
		return;
	me.depth = 1;
	if (me.events % 2 == 0)
		step();
	if (me.events % JUMPS_A_SLEEP == JUMPS_A_SLEEP - 1) {
		usleep(70000);
		step();
	}
	me.events++;
	me.depth = 0;
	siglongjmp(out, 1);
}

static int run_jumps(void)
{
	handle(SIGALRM, jump, 0);
	if (sigsetjmp(out, 1) == 0)
		start_timer(SIGALRM, 4000);
	return follow();
}

/* The child goes on from the parent's last counts, wherever a handler had
 * interrupted it. */
static void fork_one(void)
{
	static volatile sig_atomic_t forking;
	int status;
	pid_t pid;

	if (forking)
		return;
	forking = 1;
	pid = fork();
	if (pid == 0) {
		steps(20000);
		_exit(0);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	forking = 0;
}

/* Others interrupt it, and itself does again. */
static void nest(int sig)
{
	int saved = errno;

	(void)sig;
	if (me.depth >= LEVELS - 1)
		return;
	me.depth++;
	me.events++;
	steps(100);
	/* Sanitizers take locks of their own, which a child may find held, and
	 * timer_create(3) may take malloc's. */
	if (!SANITIZED && me.timers == TIMERS &&
	    me.events % SIGNALS_A_FORK == 0)
		fork_one();
	/* On a slow machine handlers may take all of the time. */
	if (over())
		stop_timers();
	me.depth--;
	errno = saved;
}

static int two_timers(void)
{
	start_timer(SIGUSR1, 4000);
	start_timer(SIGUSR2, 3000);
	return follow();
}

static int run_nested(void)
{
	affinity_pin(affinity_here());
	return in_threads(3, NULL, two_timers) != 0;
}

/* As a quota does. */
static void stop_for_a_while(pid_t pid)
{
	kill(pid, SIGSTOP);
	usleep(15000);
	kill(pid, SIGCONT);
}

static void check(const char *name, int (*run)(void), void (*during)(pid_t))
{
	int status;

	memset(result, 0, sizeof *result);
	begun = wall_ns();
	status = in_child_beside(run, during);
	/* ThreadSanitizer delivers signals at system calls, one by one. */
	if (SANITIZED_THREADS && status == 1)
		status = 0;
	ok(bounded(0, status, 0, "it did not end well") && result->back == 0,
	   "%s: %lu counts are below an earlier one, the last by %lld", name,
	   result->back, result->fall);
}

int main(void)
{
	load_begin();
	result = shared(sizeof *result);
	handle(SIGUSR1, nest, SA_NODEFER | SA_RESTART);
	handle(SIGUSR2, nest, SA_NODEFER | SA_RESTART);
	check("jumps out of handlers", run_jumps, NULL);
	check("nested handlers that fork, in threads on one CPU that are "
	      "stopped",
	      run_nested, stop_for_a_while);
	return done_testing();
}
