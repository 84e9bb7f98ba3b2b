/* SPDX-License-Identifier: 0BSD */
/* No count of a calibrated counter is below an earlier one of its thread, under
 * signal handlers, jumps, forks, migrations and waits: LIVE_SECONDS of each. */
#ifdef __linux__
#include "load.h"

#include <setjmp.h>
#include <stdatomic.h>
#include "levels.h"
#include "quota.h"

#define EVENTS 10 /* of a kind, from which on it counts as having happened */
#define BATCH 64  /* counts between two looks at the clock */
#define TIMERS 3
#define JUMPS_A_SLEEP 61
#define SIGNALS_A_FORK 100

static __thread struct {
	volatile unsigned long jumps, children, moves;
	timer_t timer[TIMERS];
	volatile sig_atomic_t timers;
} me;

/* The findings of a scenario's threads, where the parent can read them. */
struct result {
	unsigned long counts, back, signals, nested, jumps, children, moves;
	unsigned long child_back;
	long long fall, child_fall;
	double share; /* of the time for which the threads ran */
};
static struct result *result;
static pthread_mutex_t result_lock = PTHREAD_MUTEX_INITIALIZER;

static double begun;
static unsigned long (*happened)(void);
static volatile sig_atomic_t ending;
static atomic_bool arrived;

static unsigned long jumps(void)
{
	return me.jumps;
}

static unsigned long children(void)
{
	return me.children;
}

static unsigned long moves(void)
{
	return me.moves;
}

/* A thread that has hardly run goes on until its events have happened. */
static bool over(void)
{
	double took = (wall_ns() - begun) / 1e9;

	return took > load_seconds + LOAD_LATE ||
	       (took > load_seconds && happened() >= EVENTS);
}

static void stop_timers(void)
{
	while (me.timers > 0)
		load_timer_stop(me.timer[--me.timers]);
}

static void start_timer(int sig, long hz)
{
	if (load_timer(&me.timer[me.timers], sig, 1000000000 / hz))
		me.timers++;
}

static void count_on(void)
{
	int i, cpu = affinity_here(), now;

	while (!over()) {
		for (i = 0; i < BATCH; i++)
			step();
		now = affinity_here();
		me.moves += now != cpu;
		cpu = now;
	}
}

/* A thread's clock is 0 as it begins, as is that of a child of fork. */
static void add_up(void)
{
	double ran = ran_ns(), wall = wall_ns() - begun;
	struct level *here;
	int i;

	pthread_mutex_lock(&result_lock);
	for (i = 0; i < LEVELS; i++) {
		here = &level[i];
		result->counts += here->counts;
		result->back += here->back;
		if (i > 1)
			result->nested += here->signals;
		if (here->fall > result->fall)
			result->fall = here->fall;
	}
	result->signals += signals();
	result->jumps += me.jumps;
	result->children += me.children;
	result->moves += me.moves;
	result->share += ran / wall;
	pthread_mutex_unlock(&result_lock);
}

/* Counts until it is over, and returns what the child ends with. */
static int follow(void)
{
	count_on();
	stop_timers();
	add_up();
	return happened() < EVENTS;
}

static void begin(unsigned long (*what)(void))
{
	happened = what;
	begun = wall_ns();
}

static sigjmp_buf out;

/* Some handlers count before they jump, some after a sleep, some not at all. */
static void jump(int sig)
{
	const struct timespec nap = {0, 70000000};

	(void)sig;
	if (ending)
		return;
	depth = 1;
	level[1].signals++;
	if (me.jumps % 2 == 0)
		step();
	if (me.jumps % JUMPS_A_SLEEP == JUMPS_A_SLEEP - 1) {
		nanosleep(&nap, NULL);
		step();
	}
	me.jumps++;
	depth = 0;
	siglongjmp(out, 1);
}

static int run_jumps(void)
{
	begin(jumps);
	load_handler(SIGALRM, jump, 0);
	if (sigsetjmp(out, 1) == 0)
		start_timer(SIGALRM, 4000);
	count_on();
	ending = 1;
	return follow();
}

/* Goes on from the parent's last counts, wherever a handler had interrupted
 * it, and tells the parent, which waits. */
static void fork_child(void)
{
	struct level *here = &level[depth];
	int i;

	here->back = 0;
	here->fall = 0;
	for (i = 0; i < 20000; i++)
		step();
	result->child_back += here->back;
	if (here->fall > result->child_fall)
		result->child_fall = here->fall;
	_exit(0);
}

static void fork_one(void)
{
	static volatile sig_atomic_t forking;
	int status;
	pid_t pid;

	if (forking)
		return;
	forking = 1;
	pid = fork();
	if (pid == 0)
		fork_child();
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	me.children += pid > 0;
	forking = 0;
}

/* Others interrupt it, and itself does again. */
static void nest(int sig)
{
	struct level *here;
	int i, saved = errno;

	(void)sig;
	if (depth >= LEVELS - 1)
		return;
	depth++;
	here = &level[depth];
	here->signals++;
	for (i = 0; i < 100; i++)
		step();
	if (happened == children && here->signals % SIGNALS_A_FORK == 0)
		fork_one();
	/* On a slow machine handlers may take all of the time. */
	if (over())
		stop_timers();
	depth--;
	errno = saved;
}

static void nest_all(void)
{
	load_handler(SIGALRM, nest, SA_NODEFER | SA_RESTART);
	load_handler(SIGUSR1, nest, SA_NODEFER | SA_RESTART);
	load_handler(SIGUSR2, nest, SA_NODEFER | SA_RESTART);
}

static void *two_timers(void *arg)
{
	start_timer(SIGUSR1, 4000);
	start_timer(SIGUSR2, 3000);
	*(int *)arg = follow();
	return NULL;
}

static int run_throttled(void)
{
	pthread_t id[3];
	int bad[3], i;

	begin(signals);
	nest_all();
	for (i = 0; i < 3; i++)
		if (pthread_create(&id[i], NULL, two_timers, &bad[i]) != 0)
			return 2;
	for (i = 0; i < 3; i++)
		pthread_join(id[i], NULL);
	return bad[0] || bad[1] || bad[2];
}

static int run_nested(void)
{
	begin(children);
	nest_all();
	start_timer(SIGALRM, 2000);
	start_timer(SIGUSR1, 3000);
	start_timer(SIGUSR2, 4000);
	return follow();
}

/* Moves a thread from CPU to CPU. */
static void *move(void *arg)
{
	const struct timespec nap = {0, 100000};
	const pid_t thread = *(pid_t *)arg;
	struct affinity cpus;
	cpu_set_t one;
	int cpu = -1;

	affinity_get(&cpus);
	while (!atomic_load(&arrived)) {
		cpu = affinity_next(&cpus, cpu);
		if (cpu < 0 || cpu >= CPU_SETSIZE) {
			cpu = -1;
			continue;
		}
		CPU_ZERO(&one);
		CPU_SET((size_t)cpu, &one);
		sched_setaffinity(thread, sizeof one, &one);
		nanosleep(&nap, NULL);
	}
	affinity_end(&cpus);
	return NULL;
}

static int run_moved(void)
{
	pid_t thread = (pid_t)syscall(SYS_gettid);
	struct affinity cpus;
	pthread_t id;
	int bad;

	if (affinity_get(&cpus) != 0 || affinity_count(&cpus) < 2 ||
	    pthread_create(&id, NULL, move, &thread) != 0)
		return CANNOT;
	begin(moves);
	bad = follow();
	atomic_store(&arrived, true);
	pthread_join(id, NULL);
	affinity_end(&cpus);
	return bad;
}

static int run_nice(void)
{
	pid_t rival;
	int bad;

	load_pin();
	rival = load_rival(load_busy);
	if (rival < 0 || nice(19) == -1)
		return CANNOT;
	load_handler(SIGALRM, nest, SA_RESTART);
	begin(signals);
	start_timer(SIGALRM, 4000);
	bad = follow();
	load_rival_end(rival);
	return bad;
}

static void check(const char *name, int (*run)(void), void (*during)(pid_t))
{
	const struct result *r = result;
	int status;

	memset(result, 0, sizeof *result);
	status = load_apart(run, during);
	if (status == CANNOT) {
		skip("%s: one CPU, or not permitted", name);
		return;
	}
	diag("%s: %lu counts, %lu signals, %lu of them nested, %lu jumps, "
	     "%lu children, %lu moves; ran %.0f%% of the time",
	     name, r->counts, r->signals, r->nested, r->jumps, r->children,
	     r->moves, r->share * 100);
	/* ThreadSanitizer delivers signals at system calls, one by one. */
	if (SANITIZED_THREADS && status == 1)
		skip("%s: it did not happen under this sanitizer", name);
	else
		ok(status == 0, "%s: it happened (%d)", name, status);
	ok(bounded(0, (double)r->fall, 0, "cycles back: no count may fall") &&
		   r->back == 0 && r->counts > 0,
	   "%s: %lu counts are below an earlier one, by up to %lld", name,
	   r->back, r->fall);
	if (r->children > 0)
		ok(r->child_back == 0,
		   "%s: nor in children: %lu counts, by up to %lld", name,
		   r->child_back, r->child_fall);
}

int main(void)
{
	load_begin();
	result = shared(sizeof *result);
	check("jumps out of handlers", run_jumps, NULL);
	quota_begin();
	check("nested handlers, throttled", run_throttled, quota_during);
	quota_end();
	check("nested handlers that fork", run_nested, NULL);
	check("moved between CPUs", run_moved, NULL);
	check("nice 19 beside nice 0", run_nice, NULL);
	return done_testing();
}
#else
#include "tap.h"

int main(void)
{
	skip_all("written for Linux");
}
#endif
