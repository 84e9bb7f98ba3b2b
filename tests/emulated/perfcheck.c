/* SPDX-License-Identifier: 0BSD */
/* Checks the counters that read perf events on a machine with a PMU: what only
 * a kernel and registers can show. sim_perf pretends all the rest.
 *
 * Arguments: the counter's name; "exact" where one instruction is one cycle;
 * "instructions" to check those instead of cycles.
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

#define TURNS 100000L
#define TRIES 9
/* Cycles that the two counts around a loop may add; and those from a count to
 * the next. */
#define SLACK (2 * call_cost)
static long long call_cost;

static const char *name;
static bool instructions, exact;

/* The events of all types of cores. */
static struct cpuc_event core_event[CPUC_TYPES];
static unsigned types;

#define own                                                       \
	(&cpuc_perf_own[instructions ? PERF_COUNT_HW_INSTRUCTIONS \
				     : PERF_COUNT_HW_CPU_CYCLES])

/* What the counter's file says of its events. */
static struct cpuc_event_set *set;

/* The mistakes of a thread or child: bits, so that they fit an exit status. */
enum { BACKWARDS = 1, STANDS = 2, INEXACT = 4, BY_CALLS = 8 };

static long long counter(void)
{
	return instructions ? cpucycles_instructions() : cpucycles();
}

/* A count, and whether it is behind the last one of this thread. */
static long long count(int *wrong)
{
	static __thread long long latest;
	long long now = counter();

	if (now < latest)
		*wrong |= BACKWARDS;
	latest = now;
	return now;
}

/* Whether this thread's latest count has read a register. */
static bool by_page(void)
{
	return *own->quick != 0;
}

/* Counts a loop. */
static int check_count(void)
{
	const long work = LOOP_INSTRUCTIONS * TURNS;
	long long best = INT64_MAX, t;
	int i, wrong = 0;

	for (i = 0; i < TRIES; i++) {
		count(&wrong);
		t = counter();
		loop(TURNS);
		t = counter() - t;
		best = t < best ? t : best;
	}
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

/* By calls, the C library's part of them counts too. */
static int check_calls(void)
{
	return check_count() & ~INEXACT;
}

static int grandchild(void)
{
	return check_page() | in_child(check_page);
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

#define EVENTS 24 /* more than any of the machines has counters */

/* Others' pinned events take the register: they come before the library's, as
 * they are older. No count goes back, nor does one of cycles stand still, and
 * the page is read again when they are gone. Where there are two types of
 * cores, even and odd events are for one each.
 */
static int check_taken(void)
{
	const long long work = exact ? 200 * 100 * LOOP_INSTRUCTIONS : 1;
	int i, calls = 0, wrong = 0, events[EVENTS];
	long long begin, taken;

	for (i = 0; i < EVENTS; i++) {
		events[i] = cpuc_event_open(&core_event[(unsigned)i % types],
					    set->config1,
					    (set->opened - 1) | CPUC_PINNED);
		ioctl(events[i], PERF_EVENT_IOC_DISABLE, 0);
	}
	wrong |= check_page();
	begin = count(&wrong);
	for (i = 0; i < EVENTS; i++)
		ioctl(events[i], PERF_EVENT_IOC_ENABLE, 0);
	taken = count(&wrong);
	for (i = 0; i < 200; i++) {
		count(&wrong);
		loop(100);
		calls += !by_page();
	}
	taken = count(&wrong) - taken;
	diag("register taken: %d of 200 counts by calls, of %lld for %lld",
	     calls, taken, work);
	if (calls < 100)
		wrong |= INEXACT;
	/* Time stands in for cycles, which are as many where they are exact. */
	if (!instructions && taken < work)
		wrong |= STANDS;
	for (i = 0; i < EVENTS; i++)
		close(events[i]);
	let_in(&wrong);
	if (count(&wrong) <= begin)
		wrong |= STANDS;
	return wrong | check_page();
}

static void pin(long cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET((size_t)cpu, &one);
	sched_setaffinity(0, sizeof one, &one);
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
	const bool alone = exact && (set->opened - 1) & CPUC_NO_KERNEL;
	int wrong = 0;
	long long none = count_moves(0, alone, &wrong);
	long long t = count_moves(1000, alone, &wrong);
	long cpu = sysconf(_SC_NPROCESSORS_ONLN);

	diag("%d moves count as %lld, and with loops of %lld as %lld", MOVES,
	     none, work, t);
	if (alone && (t < work || llabs(t - none - work) > work / 10))
		wrong |= INEXACT;
	while (cpu-- > 0) {
		pin(cpu);
		wrong |= check_page();
	}
	return wrong;
}

static int check_thread(void)
{
	return in_threads(1, NULL, check_moves);
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

/* Users lose the right to read registers, and get it again. x86 takes it from
 * all at once and leaves the pages as they are: there, who has one must not
 * count. Elsewhere nobody may before the next switch. */
static int switch_access(void)
{
	int wrong = 0;

#if !defined(__x86_64__)
	wrong = check_page();
#endif
	user_access("0");
	usleep(20000);
	wrong |= check_calls();
	user_access("1");
	let_in(&wrong);
	return wrong | check_page();
}

/* A pair is of one instant: where one instruction is one cycle, both agree. */
static int check_pair(void)
{
	long long cycles[2], retired[2], off = INT64_MAX, least = INT64_MAX;
	int i, wrong = 0;

	for (i = 0; i < TRIES; i++) {
		wrong |= cpucycles_pair(&cycles[0], &retired[0]) ? STANDS : 0;
		loop(TURNS);
		wrong |= cpucycles_pair(&cycles[1], &retired[1]) ? STANDS : 0;
		cycles[1] -= cycles[0];
		retired[1] -= retired[0];
		wrong |= cycles[1] <= 0 || retired[1] <= 0 ? STANDS : 0;
		if (llabs(cycles[1] - retired[1]) < off)
			off = llabs(cycles[1] - retired[1]);
		if (retired[1] < least)
			least = retired[1];
	}
	diag("the loop is %lld instructions, and cycles differ by %lld", least,
	     off);
	if (exact && (off > 60 || least < LOOP_INSTRUCTIONS * TURNS))
		wrong |= INEXACT;
	return wrong;
}

/* Counts by descriptors, and by pages again. Instructions go on. */
static int check_select(void)
{
	int wrong = check_page();

	wrong |= cpucycles_select("default-perfevent") ? STANDS : 0;
	if (instructions)
		wrong |= check_page() | check_pair();
	wrong |= check_calls();
	wrong |= cpucycles_select(NULL) ? STANDS : 0;
	wrong |= strcmp(name, cpucycles_implementation()) ? INEXACT : 0;
	return wrong | check_page() | (instructions ? check_pair() : 0);
}

/* The instructions from one call to the next, as an application makes them. */
static void check_cost(void)
{
	long long t;
	int i;

	call_cost = INT64_MAX;
	for (i = 0; i < 1000; i++) {
		t = cpucycles();
		t = cpucycles() - t;
		call_cost = t < call_cost ? t : call_cost;
	}
	diag("from a count to the next: %lld instructions", call_cost);
#if defined(__aarch64__)
	ok(call_cost <= 32, "a count takes at most 32 instructions");
#endif
}

static void report(const char *what, int wrong)
{
	ok(wrong == 0, "%s (%d)", what, wrong);
}

/* In this order: each begins in the state that those before have left. */
int main(int argc, char **argv)
{
	int i;

	/* A loop must be over before its parent looks. */
	nap_ns = 20000000;
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "instructions"))
			instructions = true;
		else if (!strcmp(argv[i], "exact"))
			exact = true;
		else
			name = argv[i];
	}
	types = cpuc_core_pmus(core_event, instructions
						   ? PERF_COUNT_HW_INSTRUCTIONS
						   : PERF_COUNT_HW_CPU_CYCLES);
	/* On a host that takes its time, the emulated clock is as fine. */
	if (!exact)
		setenv("cpucyclesimplementation", name, 1);
	cpucycles();
	ok(!strcmp(cpucycles_implementation(), name), "%s is selected",
	   cpucycles_implementation());
	if (instructions)
		report("a pair", check_pair());
	ok(lowest_descriptor() == 3, "no descriptor is kept");
	set = own->set;
	if (exact)
		check_cost();
	report("the first thread", check_page());
	report("a thread that moves between CPUs", check_thread());
	report("a child, and a grandchild", in_child(grandchild));
	report("more pinned events than counters", in_child(check_taken));
	report("selecting anew", in_child(check_select));
	if (geteuid() == 0)
		report("user access off and on", in_child(switch_access));
	return done_testing();
}
