/* SPDX-License-Identifier: 0BSD */
/* A calibrated counter leaves out the time for which its thread does not run,
 * on this machine: threads that share a CPU, waits, signals, forks, and others
 * who use restartable sequences, or have switched them off. */
#include "load.h"

#include <fcntl.h>
#include <sys/time.h>
#include "tools/common/known.h"
#if HAVE_RSEQ
#include <sys/rseq.h>
#endif

#define TRIES 20 /* the host may take the CPU away, of which no clock tells */

/* A chain of known length, some 0.3 ms. */
#define CYCLES 990000

static double rate; /* cycles per ns, the highest seen */

static void observe(void)
{
	double now = (double)cpucycles_observepersecond() / 1e9;

	rate = now > rate ? now : rate;
}

static void chain(int times)
{
	while (times-- > 0)
		known->loop(CYCLES / known->turn);
}

/* A thread calls act() before each group of chains. `off` is the part by which
 * its count is below their length, or above its time, of which the host may
 * have taken a part; `without` is the part of the time for which it did not
 * run. */
struct job {
	void (*act)(void);
	int times, chains;
	double off, without;
	bool back;
};

static void *work(void *arg)
{
	struct job *job = arg;
	double ran, wall, counted, chains;
	long long begin, last, now;
	int i;

	cpucycles();
	chain(10);
	begin = last = cpucycles();
	ran = ran_ns();
	wall = wall_ns();
	for (i = 0; i < job->times; i++) {
		if (job->act != NULL)
			job->act();
		chain(job->chains);
		now = cpucycles();
		job->back |= now < last;
		last = now;
	}
	ran = ran_ns() - ran;
	wall = wall_ns() - wall;
	counted = (double)(last - begin);
	chains = (double)job->times * job->chains * CYCLES;
	job->off = 0;
	if (counted < chains)
		job->off = counted / chains - 1;
	if (counted > ran * rate)
		job->off = counted / (ran * rate) - 1;
	job->without = 1 - ran / wall;
	return NULL;
}

static double distance(double a)
{
	return a < 0 ? -a : a;
}

/* Two threads of the same job on this CPU. */
static void two(struct job job[2])
{
	pthread_t id[2];
	int i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&id[i], NULL, work, &job[i]) != 0)
			return;
	for (i = 0; i < 2; i++)
		pthread_join(id[i], NULL);
}

static void yield(void)
{
	sched_yield();
}

static void sleep_1ms(void)
{
	usleep(1000);
}

static void sleep_100ms(void)
{
	usleep(100000);
}

static void check_job(const char *name, void (*act)(void), int times,
		      int chains, int threads, double without)
{
	struct job job[2] = {{0}};
	double off = 1;
	bool back = false;
	int i, tries;

	for (tries = 0; tries < TRIES && off > 0.01; tries++) {
		for (i = 0; i < 2; i++)
			job[i] = (struct job){act, times, chains, 1, 0, false};
		if (threads == 2)
			two(job);
		else
			work(&job[0]);
		off = 0;
		observe();
		for (i = 0; i < threads; i++) {
			if (job[i].without < without)
				off = 1;
			if (distance(job[i].off) > off)
				off = distance(job[i].off);
			back |= job[i].back;
		}
	}
	ok(bounded(0, off, 0.01,
		   "the count is off by this part of what was run") &&
		   !back,
	   "%s: the count is %+.2f%% off, %.0f%% of the time not in it", name,
	   job[0].off * 100, job[0].without * 100);
}

static volatile unsigned signals;

static void on_alarm(int sig)
{
	(void)sig;
	if (++signals % 2 == 0)
		cpucycles();
}

static void alarms(int us)
{
	struct itimerval every = {{0, us}, {0, us}};

	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &every, NULL);
}

static void check_rival(void)
{
	pid_t pid = load_rival(load_busy);

	check_job("beside a busy process", NULL, 30, 3, 1, 0.2);
	load_rival_end(pid);
}

/* A count and the clocks beside it. */
struct instant {
	long long count;
	double ran, wall;
};

static struct instant instant(void)
{
	return (struct instant){cpucycles(), ran_ns(), wall_ns()};
}

/* Whether the count has left out the time since then for which the thread did
 * not run, but for a fifth, as the host may have taken some of it. */
static bool left_out(const struct instant *since)
{
	struct instant now = instant();
	double ran = now.ran - since->ran, wall = now.wall - since->wall;

	return now.count > since->count &&
	       (double)(now.count - since->count) <
		       rate * (ran + (wall - ran) / 5);
}

static int child(void *arg)
{
	struct instant before;

	if (cpucycles() < *(long long *)arg)
		return 2;
	before = instant();
	usleep(50000);
	return left_out(&before) ? counts(1000) : 3;
}

static void check_fork(void)
{
	struct instant before = instant();
	int status;

	chain(3);
	status = in_child(child, &before.count);
	ok(status == 0, "a child goes on, and its wait is not counted (%d)",
	   status);
	ok(left_out(&before), "nor is its parent's, for it");
}

static void check_interruptions(void)
{
	long long before = cpucycles_interruptions(), after;
	const char *name;
	int i;

	usleep(1000);
	after = cpucycles_interruptions();
	ok(before >= 0 && after > before, "a wait is an interruption");
	before = after;
	raise(SIGALRM);
	after = cpucycles_interruptions();
	ok(after > before, "and so is a signal that is handled");
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

/* A critical section that ends when *flag is set, or when it is aborted. */
#if HAVE_RSEQ && (defined(__x86_64__) || defined(__aarch64__))
extern const char section[];
int section_run(volatile uint64_t *word, const void *description,
		const volatile int *flag);
__asm__(".pushsection .data\n\t"
	".balign 32\n"
	"section:\n\t"
	".long 0, 0\n\t"
	".quad section_start, section_end - section_start, section_abort\n\t"
	".popsection\n\t"
	".text\n"
#ifdef __x86_64__
	"section_run:\n\t"
	"mov %rsi, (%rdi)\n"
	"section_start:\n\t"
	"mov (%rdx), %eax\n\t"
	"test %eax, %eax\n\t"
	"jz section_start\n"
	"section_end:\n\t"
	"xor %eax, %eax\n\t"
	"ret\n\t"
	".long 0x53053053\n"
	"section_abort:\n\t"
	"mov $1, %eax\n\t"
	"ret\n"
#else
	"section_run:\n\t"
	"str x1, [x0]\n"
	"section_start:\n\t"
	"ldr w3, [x2]\n\t"
	"cbz w3, section_start\n"
	"section_end:\n\t"
	"mov w0, #0\n\t"
	"ret\n\t"
	".inst 0xd428bc00\n"
	"section_abort:\n\t"
	"mov w0, #1\n\t"
	"ret\n"
#endif
);

static int one_section(int flag)
{
	struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() +
					    __rseq_offset);
	return section_run((volatile uint64_t *)&area->rseq_cs, section, &flag);
}

static void check_sections(void)
{
	int i, aborted = 0, wrong = 0;
	long long last = cpucycles(), now;

	alarms(500);
	for (i = 0; i < 400; i++) {
		aborted += one_section(i % 2);
		now = cpucycles();
		wrong += now < last;
		last = now;
		wrong += one_section(1) > 1;
		now = cpucycles();
		wrong += now < last;
		last = now;
	}
	alarms(0);
	ok(!wrong && aborted >= 200,
	   "critical sections of the program's own: %d of 800 aborted",
	   aborted);
}
#else
static void check_sections(void)
{
	skip("critical sections: not written for this architecture");
}
#endif

/* The program runs itself again without rseq. */
static int without(void *arg)
{
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	setenv("LIVE_PREEMPTED", "without", 1);
	execv("/proc/self/exe", arg);
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
	if (cpucycles_counterbyname(NULL, &c, sizeof c) != 0 || c.per_thread)
		return 3;
	return cpucycles_interruptions() == -1 ? counts(1000) : 4;
}

int main(int argc, char **argv)
{
	const char *mode = getenv("LIVE_PREEMPTED");
	struct cpucycles_counter c;
	struct affinity cpus;

	(void)argc;
	if (mode != NULL)
		return is_without();
	if (!load_select())
		skip_all("no calibrated counter here");
	point("switched off by GLIBC_TUNABLES, or somebody else's", without,
	      argv, "cannot run itself again");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	if (!c.per_thread || !known_usable()) {
		skip("no restartable sequences, or no chain of known length");
		return done_testing();
	}
	affinity_get(&cpus);
	affinity_pin(affinity_here());
	observe();
	check_job("alone", NULL, 30, 3, 1, 0);
	check_job("two threads on one CPU", NULL, 30, 3, 2, 0.3);
	check_rival();
	check_job("1000 sched_yield a second", yield, 90, 2, 2, 0.3);
	check_job("sleeping 1 ms", sleep_1ms, 30, 3, 1, 0.15);
	check_job("sleeping 100 ms", sleep_100ms, 5, 3, 1, 0.9);
	alarms(1000);
	check_job("1000 signals a second", NULL, 30, 3, 1, 0);
	alarms(0);
	check_fork();
	check_interruptions();
	check_sections();
	affinity_end(&cpus);
	affinity_end(&cpus);
	return done_testing();
}
