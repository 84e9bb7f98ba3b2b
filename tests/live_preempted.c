/* SPDX-License-Identifier: 0BSD */
/* A calibrated counter leaves out the time for which its thread does not run,
 * on this machine: threads that share a CPU, waits, signals, forks, and others
 * who use restartable sequences, or have switched them off. */
#include "load.h"

#include "tools/common/known.h"
#if HAVE_RSEQ
#include <sys/rseq.h>
#endif

#define OFF 0.01
#define LACK 8e3 /* ns that the clock may lack where the CPU is lost */
#define TRIES 20 /* the host may take the CPU away, of which no clock tells */

/* A chain of known length, some 0.3 ms. */
#define CYCLES 990000

static void chain(int times)
{
	while (times-- > 0)
		known->loop(CYCLES / known->turn);
}

static void sleep_1ms(void)
{
	usleep(1000);
}

static void sleep_100ms(void)
{
	usleep(100000);
}

static void wait_for_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		usleep(1000);
		_exit(cpucycles() == 0);
	}
	waitpid(pid, NULL, 0);
}

/* One thread, or two on this CPU, or one beside a busy process. */
enum beside { ALONE, THREAD, PROCESS };

/* A thread calls act() before each group of chains. */
static const struct job {
	const char *name;
	void (*act)(void);
	int times, chains;
	enum beside beside;
	int alarms;     /* us */
	double without; /* at least this part of the time it did not run */
} jobs[] = {
	{"alone", NULL, 30, 3, ALONE, 0, 0},
	{"two threads on one CPU", NULL, 30, 3, THREAD, 0, 0.3},
	{"beside a busy process", NULL, 30, 3, PROCESS, 0, 0.2},
	{"1000 sched_yield a second", load_yield, 90, 2, THREAD, 0, 0.3},
	{"sleeping 1 ms", sleep_1ms, 30, 3, ALONE, 0, 0.15},
	{"sleeping 100 ms", sleep_100ms, 5, 3, ALONE, 0, 0.9},
	{"1000 signals a second", NULL, 30, 3, ALONE, 1000, 0},
	{"waiting for children", wait_for_child, 30, 3, ALONE, 0, 0.15},
};
static const struct job child_job = {"", sleep_1ms, 30, 3, ALONE, 0, 0.15};

/* Of a thread's count: the part by which it is below the chains' length, or
 * above its time, of which the host may have taken a part; the part of the time
 * for which it did not run. */
struct done {
	const struct job *job;
	double off, without;
	bool back;
};

static void *work(void *arg)
{
	struct done *done = arg;
	const struct job *job = done->job;
	double ran, wall, counted, chains;
	long long begin, last, now;
	long lost;
	int i;

	cpucycles();
	chain(10);
	begin = last = cpucycles();
	lost = load_taken();
	ran = ran_ns();
	wall = wall_ns();
	for (i = 0; i < job->times; i++) {
		if (job->act != NULL)
			job->act();
		chain(job->chains);
		now = cpucycles();
		done->back |= now < last;
		last = now;
	}
	ran = ran_ns() - ran;
	wall = wall_ns() - wall;
	done->without = 1 - ran / wall;
	counted = (double)(last - begin);
	chains = (double)job->times * job->chains * CYCLES;
	if (counted < chains)
		done->off = 1 - counted / chains;
	ran += LACK * (double)(load_taken() - lost);
	if (counted > ran * load_rate)
		done->off = counted / (ran * load_rate) - 1;
	return NULL;
}

/* The part by which the count is off in the best try. */
static double run_job(const struct job *job, bool *back)
{
	struct done done[2];
	double off = 1;
	pthread_t id;
	pid_t rival = 0;
	int tries;

	if (job->beside == PROCESS)
		rival = load_rival(load_busy);
	alarms(job->alarms);
	*back = false;
	for (tries = 0; tries < TRIES && off > OFF; tries++) {
		done[0] = (struct done){job, 0, job->without, false};
		done[1] = done[0];
		if (job->beside == THREAD &&
		    pthread_create(&id, NULL, work, &done[1]) != 0)
			break;
		work(&done[0]);
		if (job->beside == THREAD)
			pthread_join(id, NULL);
		load_observe();
		off = done[0].off > done[1].off ? done[0].off : done[1].off;
		if (done[0].without < job->without ||
		    done[1].without < job->without)
			off = 1;
		*back |= done[0].back || done[1].back;
	}
	alarms(0);
	load_rival_end(rival);
	return off;
}

static void check_job(const struct job *job)
{
	bool back;
	double off = run_job(job, &back);

	ok(bounded(0, off, OFF,
		   "the count is off by this part of what was run") &&
		   !back,
	   "%s: the count is %.2f%% off", job->name, off * 100);
}

/* A child that goes on with its parent's count, which may not have its waits.
 */
static int child(void)
{
	bool back;

	return run_job(&child_job, &back) > OFF || back;
}

static void check_interruptions(void)
{
	const bool told = load_tells_waits();
	const pid_t rival = load_rival(load_busy);
	long long before = cpucycles_interruptions(), after;
	const char *name;
	int i;

	for (i = 0; i < 10000 && cpucycles_interruptions() == before; i++)
		chain(1);
	load_rival_end(rival);
	after = cpucycles_interruptions();
	ok(before >= 0 && after > before, "a preemption is an interruption");
	before = after;
	raise(SIGALRM);
	after = cpucycles_interruptions();
	if (told)
		ok(after > before, "and so is a signal that is handled");
	else
		skip("a signal: this kernel may not report it");
	for (i = 0; i < 1000; i++) {
		before = cpucycles_interruptions();
		__asm__ __volatile__("");
		if (cpucycles_interruptions() == before)
			break;
	}
	ok(i < 1000, "none in a short time");
	name = cpucycles_implementation();
	cpucycles_select("default-monotonic");
	before = cpucycles_interruptions();
	after = cpucycles_interruptions();
	usleep(1000);
	ok(cpucycles_interruptions() > before && after - before <= 1,
	   "with another counter, too");
	cpucycles_select(name);
}

#if HAVE_RSEQ
/* The program's own critical sections: empty ones would be a copy's of this
 * library. The kernel looks for the signature before the address to which a
 * section aborts. */
static void check_sections(void)
{
	static const uint32_t signature[2] = {RSEQ_SIG};
	static struct rseq_cs section __attribute__((aligned(32)));
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() +
					    __rseq_offset);
	const uint64_t address = (uintptr_t)&section;
	long long before = cpucycles_interruptions();
	int i, bad = 0;

	section.start_ip = (uintptr_t)chain;
	section.post_commit_offset = 1;
	section.abort_ip = (uintptr_t)&signature[1];
	for (i = 0; i < 400; i++) {
		memcpy(&area->rseq_cs, &address, sizeof address);
		if (i % 4 == 0)
			usleep(100);
		bad |= counts(10);
	}
	ok(!bad && cpucycles_interruptions() - before >= 400,
	   "critical sections of the program's own are interruptions");
}
#else
static void check_sections(void)
{
	skip("critical sections: none here");
}
#endif

static char **arguments;

/* The program runs itself again without rseq. */
static int without(void)
{
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	setenv("LIVE_PREEMPTED", "without", 1);
	execv("/proc/self/exe", arguments);
	return CANNOT;
}

static int is_without(void)
{
	struct cpucycles_counter c;

#if HAVE_RSEQ && defined(SYS_rseq)
	static char area[64] __attribute__((aligned(64)));

	if (__rseq_size != 0)
		return 2;
	load_select();
	/* Somebody else's, of another size than the C library's. */
	if (syscall(SYS_rseq, area, (int)sizeof area, 0, RSEQ_SIG) != 0)
		syscall(SYS_rseq, area, 32, 0, RSEQ_SIG);
#endif
	if (cpucycles_counterbyname(NULL, &c, sizeof c) != 0 || !c.per_thread)
		return 3;
	return cpucycles_interruptions() == -1 ? counts(1000) : 4;
}

int main(int argc, char **argv)
{
	struct cpucycles_counter c;
	size_t i;

	(void)argc;
	arguments = argv;
	if (getenv("LIVE_PREEMPTED") != NULL)
		return is_without();
	if (!load_select())
		skip_all("no calibrated counter here");
	point("switched off by GLIBC_TUNABLES, or somebody else's", without,
	      "cannot run itself again");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	if (!c.per_thread || !known_usable()) {
		skip("no restartable sequences, or no chain of known length");
		return done_testing();
	}
	affinity_pin(affinity_here());
	load_observe();
	signal(SIGALRM, load_on_alarm);
	for (i = 0; i < sizeof jobs / sizeof *jobs; i++)
		check_job(&jobs[i]);
	point("a child's waits are not counted", child, "");
	if (cpucycles_interruptions() < 0) {
		skip("interruptions: no restartable sequences");
		return done_testing();
	}
	check_interruptions();
	check_sections();
	return done_testing();
}
