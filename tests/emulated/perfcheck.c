/* SPDX-License-Identifier: 0BSD */
/* Checks the counters that read perf events, on a machine with a PMU, in every
 * thread, child and state of the system that a program can get into.
 *
 * Arguments: the counter's name; "instructions" to check those instead of
 * cycles; "exact" where one instruction is one cycle, "exact=N" where it is N,
 * "exact=N/M" where M of them are. A raw counter is checked on one CPU at a
 * time.
 */
#include <config.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "../../src/perf/read.h"
#include "../../src/tools/common/known.h"
#include "../faults/faults.h"

#define ITERATIONS 100000L
#define TRIES 9
/* Cycles that the two counts around a loop may add; and those from a count to
 * the next. */
#define SLACK (2 * call_cost)
static long long call_cost;
/* Instructions of the next count after a switch: it reads the pages anew, under
 * the guard. */
#define AFTER_SWITCH 600

static const char *name;
static bool instructions;
static long long exact; /* cycles of `per` instructions; 0: not known */
static long long per = 1;

/* The events of all types of cores. */
static struct cpuc_event core_event[CPUC_CORES];
static unsigned types;

#define own                                                       \
	(&cpuc_perf_own[instructions ? PERF_COUNT_HW_INSTRUCTIONS \
				     : PERF_COUNT_HW_CPU_CYCLES])

/* What the counter's file says of its events. NULL: it has none. */
static struct cpuc_event_set *set;

/* The count that is checked. */
static long long raw(void)
{
	return instructions ? cpucycles_instructions() : cpucycles();
}

/* In instructions where that is exact. */
static long long scaled(long long n)
{
	return exact ? (n * per + exact / 2) / exact : n;
}

static long long counter(void)
{
	return scaled(raw());
}

/* The mistakes of a thread or child: bits, so that they fit an exit status. */
enum { BACKWARDS = 1, STANDS = 2, INEXACT = 4, BY_CALLS = 8, ERRNO = 16 };

static __thread long long latest;

/* A count, and whether it is behind the last one of this thread. */
static long long count(int *wrong)
{
	long long now;

	errno = 17;
	now = counter();
	if (errno != 17)
		*wrong |= ERRNO;
	if (now < latest)
		*wrong |= BACKWARDS;
	latest = now;
	return now;
}

/* Whether this thread's latest count has read a register. */
static bool by_page(void)
{
	return set == NULL || *own->quick != 0;
}

/* Counts in this thread; the mistakes. */
static int check_count(void)
{
	const long work = LOOP_INSTRUCTIONS * ITERATIONS;
	long long best = INT64_MAX, t;
	int i, wrong = 0;

	for (i = 0; i < TRIES; i++) {
		count(&wrong);
		t = raw();
		loop(ITERATIONS);
		t = scaled(raw() - t);
		best = t < best ? t : best;
	}
	for (i = 0; i < 1000; i++)
		count(&wrong);
	if (best <= 0)
		wrong |= STANDS;
	if (exact && (best < work || best > work + SLACK)) {
		diag("a loop of %ld counts as %lld", work, best);
		wrong |= INEXACT;
	}
	return wrong;
}

static int check_page(void)
{
	return check_count() | (by_page() ? 0 : BY_CALLS);
}

static int in_thread(int (*f)(void))
{
	return in_threads(1, NULL, f);
}

static void pin(long cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
}

static int little(void)
{
	int wrong = 0;

	count(&wrong);
	count(&wrong);
	return wrong;
}

static void check_many(void)
{
	int i, maps, vacant, wrong = 0;

	in_thread(little);
	maps = mappings();
	vacant = lowest_descriptor();
	for (i = 0; i < 200; i++)
		wrong |= in_thread(little);
	ok(wrong == 0, "200 threads count (%d)", wrong);
	/* On riscv64 a page goes when the next thread comes. */
	ok(mappings() <= maps + 2 && lowest_descriptor() == vacant,
	   "and leave no mapping (%d, %d) and no descriptor (%d, %d)", maps,
	   mappings(), vacant, lowest_descriptor());
}

static int each_cpu(void)
{
	long cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int wrong = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		pin(cpu);
		if (set == NULL)
			latest = INT64_MIN;
		wrong |= check_page();
	}
	return wrong;
}

static int grandchild(void)
{
	return check_page() | in_child(check_page);
}

/* All descriptors are closed, and the application's pipes, full of data, take
 * their numbers. Counts go on, and no byte is missing. */
static int check_closefrom(void)
{
	int wrong = 0, i, fd[32];
	char text[64];

	count(&wrong);
	for (i = 3; i < 64; i++)
		close(i);
	for (i = 0; i < 32; i += 2) {
		if (pipe(&fd[i]) != 0 ||
		    write(fd[i + 1], "0123456789abcdef", 16) != 16)
			return STANDS;
	}
	wrong |= check_count();
	for (i = 0; i < 32; i += 2)
		if (read(fd[i], text, sizeof text) != 16)
			wrong |= STANDS;
	return wrong;
}

#define EVENTS 24u /* more than any of the machines has counters */

static int events[EVENTS];

/* Where there are two types of cores, even and odd ones are for one each. */
static void open_events(void)
{
	unsigned i;

	for (i = 0; i < EVENTS; i++)
		events[i] =
			cpuc_event_open(&core_event[i % types], set->config1,
					(set->opened - 1) | CPUC_PINNED);
}

/* These come before the library's events, as they are older. */
static void set_events(unsigned long request)
{
	unsigned i;

	for (i = 0; i < EVENTS; i++)
		ioctl(events[i], request, 0);
}

static void close_events(void)
{
	unsigned i;

	for (i = 0; i < EVENTS; i++)
		close(events[i]);
}

/* A better way to count is tried from time to time. */
static void let_in(int *wrong)
{
	int i;

	usleep(20000);
	for (i = 0; i < 20000 && !by_page(); i++) {
		count(wrong);
		loop(1000);
	}
}

/* Others' pinned events take the register. No count goes back, and the page is
 * read again when they are gone. */
static int check_taken(void)
{
	int i, calls = 0, wrong = 0;
	long long begin;

	open_events();
	set_events(PERF_EVENT_IOC_DISABLE);
	wrong |= check_page();
	begin = count(&wrong);
	set_events(PERF_EVENT_IOC_ENABLE);
	for (i = 0; i < 200; i++) {
		count(&wrong);
		loop(100);
		calls += !by_page();
	}
	diag("register taken: %d of 200 counts by calls", calls);
	if (calls < 100)
		wrong |= INEXACT;
	close_events();
	let_in(&wrong);
	if (count(&wrong) <= begin)
		wrong |= STANDS;
	return wrong | check_page();
}

/* A handler counts, closes and takes registers between any two instructions of
 * a count. */
static int volatile handled, handler_wrong;

static void on_alarm(int sig)
{
	long long last = counter(), now;
	int i, saved = errno;

	(void)sig;
	for (i = 0; i < 10; i++) {
		now = counter();
		if (now < last)
			handler_wrong |= BACKWARDS;
		last = now;
	}
	if (own->event[0].id != 0 && handled % 3 == 0)
		close(own->event[0].fd);
#if !defined(__riscv)
	/* The kernel leaves a gap there: thread_events_defer(). */
	set_events(handled % 5 < 2 ? PERF_EVENT_IOC_ENABLE
				   : PERF_EVENT_IOC_DISABLE);
#endif
	handled++;
	errno = saved;
}

static int check_handlers(void)
{
	int wrong = 0, vacant = lowest_descriptor();

	open_events();
	set_events(PERF_EVENT_IOC_DISABLE);
	signal(SIGALRM, on_alarm);
	alarms(1000);
	while (handled < 300)
		count(&wrong);
	alarms(0);
	close_events();
	let_in(&wrong);
	wrong |= handler_wrong | check_page();
	/* The library's may be open, after a time without a page. */
	if (lowest_descriptor() > vacant + 1) {
		diag("the lowest vacant descriptor was %d, is %d", vacant,
		     lowest_descriptor());
		wrong |= STANDS;
	}
	return wrong;
}

#define MOVES 1000

/* So many moves, and a loop after each: all that counts meanwhile. */
static long long count_moves(long turns, bool alone, int *wrong)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	long long begin = count(wrong), t;
	int i;

	for (i = 0; i < MOVES; i++) {
		pin(i % cpus);
		t = count(wrong);
		if (turns > 0)
			loop((unsigned long)turns);
		t = count(wrong) - t;
		if (alone && t < LOOP_INSTRUCTIONS * turns)
			*wrong |= INEXACT;
	}
	return count(wrong) - begin;
}

/* No cycle is lost on a CPU that the thread has left, and none counted twice:
 * what the moves themselves take is counted without a loop, and may differ by a
 * tenth of the loops. */
static int check_moves(void)
{
	const long long work = LOOP_INSTRUCTIONS * 1000LL * MOVES;
	bool alone = exact && (set->opened - 1) & CPUC_NO_KERNEL;
	int wrong = 0;
	long long none = count_moves(0, alone, &wrong);
	long long t = count_moves(1000, alone, &wrong);

	diag("%d moves count as %lld, and with loops of %lld as %lld", MOVES,
	     none, work, t);
	if (alone && (t < work || llabs(t - none - work) > work / 10))
		wrong |= INEXACT;
	return wrong | check_page();
}

static void user_access(const char *value)
{
	long now;
	const char *file = cpuc_first_setting(set->access, &now);
	int fd = file != NULL ? open(file, O_WRONLY) : -1;

	if (fd < 0 || write(fd, value, 1) != 1)
		diag("user access: %s", strerror(errno));
	close(fd);
}

/* x86 takes the right from all at once and leaves the pages as they are: there,
 * who has one must not count. */
#if defined(__x86_64__)
#define CHANGES 2
#else
#define CHANGES 6
#endif

#define SHUT_OUT 4 /* threads */

/* One of the threads changes the setting, while the others wait: none counts
 * before it has been switched since. */
static int shut_out(void)
{
	static int threads;
	bool changes = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) == 0;
	int i, wrong = changes || CHANGES == 2 ? 0 : check_page();

	for (i = 0; i < CHANGES; i++) {
		meet(SHUT_OUT);
		if (changes)
			user_access(i % 2 ? "1" : "0");
		meet(SHUT_OUT);
		if (changes)
			continue;
		usleep(20000);
		if (i % 2) {
			let_in(&wrong);
			wrong |= check_page();
		} else {
			wrong |= check_count();
		}
	}
	return wrong;
}

static int switch_access(void)
{
	return in_threads(SHUT_OUT, NULL, shut_out);
}

/* A pair is of one instant: where one instruction is one cycle, both agree. */
static int check_pair(void)
{
	long long cycles[2], retired[2], off = INT64_MAX, least = INT64_MAX;
	int i, wrong = 0;

	for (i = 0; i < TRIES; i++) {
		wrong |= cpucycles_pair(&cycles[0], &retired[0]) ? STANDS : 0;
		loop(ITERATIONS);
		wrong |= cpucycles_pair(&cycles[1], &retired[1]) ? STANDS : 0;
		cycles[1] = (cycles[1] - cycles[0]) / (exact ? exact : 1);
		retired[1] -= retired[0];
		wrong |= cycles[1] <= 0 || retired[1] <= 0 ? STANDS : 0;
		if (llabs(cycles[1] - retired[1]) < off)
			off = llabs(cycles[1] - retired[1]);
		if (retired[1] < least)
			least = retired[1];
	}
	diag("the loop is %lld instructions, and cycles differ by %lld", least,
	     off);
	if (exact && (off > 60 || least < LOOP_INSTRUCTIONS * ITERATIONS))
		wrong |= INEXACT;
	return wrong;
}

/* Instructions go on after every change of the counter of cycles. */
static int check_select(void)
{
	int wrong = check_page(), vacant = lowest_descriptor();
	long long was_exact = exact;

	wrong |= cpucycles_select("default-monotonic") ? STANDS : 0;
	if (instructions)
		wrong |= check_page() | check_pair();
	wrong |= cpucycles_select("default-perfevent") ? STANDS : 0;
	/* The C library's part of system calls counts too. */
	exact = instructions ? exact : 0;
	count(&wrong);
	wrong |= check_closefrom();
	exact = was_exact;
	wrong |= in_child(little) | in_thread(little);
	wrong |= cpucycles_select(NULL) ? STANDS : 0;
	wrong |= strcmp(name, cpucycles_implementation()) ? INEXACT : 0;
	wrong |= lowest_descriptor() == vacant + 32 ? 0 : BY_CALLS;
	return wrong | check_page() | (instructions ? check_pair() : 0);
}

/* The instructions from one call to the next, as an application makes them. */
#define COST(call)                                  \
	do {                                        \
		for (i = 0; i < 1000; i++) {        \
			t = call;                   \
			t = call - t;               \
			best = t < best ? t : best; \
		}                                   \
	} while (0)

static void check_cost(void)
{
	long long best = INT64_MAX, cycles, t;
	int i;

	COST(cpucycles());
	best = scaled(best);
	call_cost = best;
	diag("from a count to the next: %lld instructions", best);
#if defined(__aarch64__)
	ok(best <= 32, "a count takes %lld instructions, at most 32", best);
#endif
	if (!instructions)
		return;
	cycles = best;
	best = INT64_MAX;
	COST(cpucycles_instructions());
	ok(10 * best <= 13 * cycles,
	   "one of instructions takes %lld, at most 1.3 times %lld", best,
	   cycles);
}

/* Where an instruction is many cycles, the count passes 2^32 and 2^48. The
 * emulator has no interrupt at an overflow, so the kernel must see the counter
 * before it has gone all round: at each sleep. */
static int check_wraps(void)
{
	long long begin = counter(), t;
	int i, wrong = 0;

	for (i = 0; i < 600; i++) {
		t = count(&wrong);
		loop(ITERATIONS);
		t = count(&wrong) - t;
		if (t < LOOP_INSTRUCTIONS * ITERATIONS ||
		    t > LOOP_INSTRUCTIONS * ITERATIONS + AFTER_SWITCH)
			wrong |= INEXACT;
		usleep(1000);
	}
	if ((counter() - begin) * exact >> 48 == 0)
		wrong |= STANDS;
	return wrong;
}

enum in { HERE, THREAD, CHILD };
enum when { ALWAYS, ROOT, INSTRUCTIONS, WRAPS, ONE_UNIT };

/* In this order: each begins in the state that those before have left. */
static const struct point {
	const char *what;
	int (*check)(void);
	enum in in;
	enum when when;
} points[] = {
	{"a pair", check_pair, HERE, INSTRUCTIONS},
	{"the first thread", check_page, HERE, ALWAYS},
	{"a thread, on each CPU", each_cpu, THREAD, ALWAYS},
	{"a child, and a grandchild", grandchild, CHILD, ALWAYS},
	{"descriptors closed and reused", check_closefrom, CHILD, ONE_UNIT},
	{"more pinned events than counters", check_taken, CHILD, ONE_UNIT},
	{"handlers that count, and close", check_handlers, CHILD, ONE_UNIT},
	{"1000 moves between CPUs", check_moves, THREAD, ONE_UNIT},
	{"2^32 and 2^48 cycles", check_wraps, THREAD, WRAPS},
	{"selecting anew", check_select, CHILD, ONE_UNIT},
	{"user access off and on", switch_access, CHILD, ROOT},
};

/* Exact counts are not those of system calls, so nobody is shut out there.
 * Where an instruction is many cycles, the counter goes all round within a
 * second, and the emulator has no interrupt at that: ONE_UNIT is not for such
 * machines. */
static bool applies(enum when when)
{
	return when == ALWAYS || (when == ROOT && geteuid() == 0 && !exact) ||
	       (when == INSTRUCTIONS && instructions) ||
	       (when == WRAPS && exact > 1 && !instructions && set != NULL) ||
	       (when == ONE_UNIT && exact <= 1);
}

static void check_points(void)
{
	const struct point *p;
	int wrong;

	for (p = points; p < points + COUNT(points); p++) {
		if (!applies(p->when))
			continue;
		wrong = p->in == THREAD  ? in_thread(p->check)
			: p->in == CHILD ? in_child(p->check)
					 : p->check();
		ok(wrong == 0, "%s (%d)", p->what, wrong);
	}
}

int main(int argc, char **argv)
{
	int i;

	/* A loop must be over before its parent looks. */
	nap_ns = 20000000;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "instructions"))
			instructions = true;
		else if (!strcmp(argv[i], "exact"))
			exact = 1;
		else if (!strncmp(argv[i], "exact=", 6))
			sscanf(argv[i] + 6, "%lld/%lld", &exact, &per);
		else
			name = argv[i];
	}
	types = cpuc_core_pmus(core_event, instructions
						   ? PERF_COUNT_HW_INSTRUCTIONS
						   : PERF_COUNT_HW_CPU_CYCLES);
	/* On a host that takes its time, the emulated clock is as fine. */
	if (exact != 1)
		setenv("cpucyclesimplementation", name, 1);
	cpucycles();
	ok(!strcmp(cpucycles_implementation(), name), "%s is selected",
	   cpucycles_implementation());
	ok(lowest_descriptor() == 3, "and keeps no descriptor");
	if (instructions)
		cpucycles_instructions();
	set = own->set;
	if (set == NULL)
		pin(0);
	if (exact)
		check_cost();
	check_points();
	check_many();
	return done_testing();
}
