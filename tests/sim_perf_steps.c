/* SPDX-License-Identifier: 0BSD */
/* A signal handler at each instruction of a count of perf events, of what reads
 * their pages and of what opens them, on a pretended kernel: it counts, or the
 * thread is switched or moves to another type of core. No later count is less,
 * and all are true. */
#define _GNU_SOURCE
#include <config.h>
#include "tap.h"
#if defined __linux__ && defined __x86_64__ && HAVE_COUNTER_DEFAULT_PERFEVENT
#ifndef __clang__
/* What fences keep in order, -O1 leaves in order without most of them. */
#pragma GCC optimize("O2")
#endif
#include "single_steps.h"
#include "system/syscalls.h"
#include "thread/guard.h"

/* How often the kernel is left until steps begin, which end as it is entered.
 * Less than 0: they have begun. */
static volatile long first;

/* What the handler does then and, if `then` is not 0, so many steps later. */
static void (*volatile act)(void);
static void (*volatile act_then)(void);
static volatile long then;
static volatile unsigned acts;

static inline __attribute__((always_inline)) void kernel_entered(void)
{
	if (first < 0)
		steps = 0;
}

static inline __attribute__((always_inline)) void kernel_left(void)
{
	if (first > 0 && --first == 0) {
		first = -1;
		__asm__ volatile("int3");
	}
}

/* The pretended kernel itself is not interrupted, nor what sim_steps does. */
#define KERNEL(call)                               \
	__extension__({                            \
		kernel_entered();                  \
		__typeof__(call) outcome = (call); \
		show_registers();                  \
		kernel_left();                     \
		outcome;                           \
	})
#define cpuc_guard_enter(guard) KERNEL(cpuc_guard_enter(guard))
#define cpuc_guard_leave(guard) KERNEL((cpuc_guard_leave(guard), 0))
static void show_registers(void);
#include "pretended_cores.h"

static void stepped(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (!steps_made(context))
		return;
	first = 0;
	acts++;
	act();
	if (then == 0)
		return;
	act = act_then;
	first = -1;
	steps = then + 1;
	then = 0;
	steps_made(context);
}

/* The registers, read in one instruction, as the PMU's are. One that no event
 * is on shows nonsense. */
static uint64_t registers[33];

static inline __attribute__((always_inline)) uint64_t
stepped_register(uint32_t index)
{
	uint64_t value;

	__asm__ volatile("movq (%1,%2,8), %0"
			 : "=r"(value)
			 : "r"(registers), "r"((uint64_t)index));
	return value;
}

static void show_register(uint32_t index)
{
	const struct event *e = on_register(index);

	registers[index] = e != NULL ? raw(e) : UINT64_C(1) << 60;
}

static void show_registers(void)
{
	show_register(7);
	show_register(32);
}

/* Cycles that passed; of these, what no event needs to have counted, as it was
 * being opened or on no register; and what counts in the midst have added. */
static uint64_t passed, uncounted, added;

static void spent(uint64_t cycles)
{
	show_registers();
	passed += cycles;
	if (cpuc_guard_inside || !(on_register(7) || on_register(32)))
		uncounted += cycles;
}

static void pass(uint64_t cycles)
{
	run(cycles);
	spent(cycles);
}

/* A change that takes time. */
static void takes(void (*change)(void))
{
	const uint64_t begun = now_ns;

	change();
	spent(now_ns - begun);
}

static volatile uint64_t given; /* the most that a call has returned */
static volatile bool back, untrue;

static uint64_t count(void)
{
	const uint64_t before = given, begun = passed;
	/* In the midst of a change it is one more. */
	const bool midst = cpuc_guard_inside;
	uint64_t n;

	kernel_left();
	n = one.reg != NULL
		    ? (uint64_t)cpuc_perf_count(&one, PERF_COUNT_HW_CPU_CYCLES,
						stepped_register)
		    : (uint64_t)cpuc_perf_slow(&one);
	steps = 0;
	back |= n < before;
	added += midst;
	untrue |= n > passed + added || (!midst && n + uncounted < begun);
	if (n > given)
		given = n;
	return n;
}

static struct event *counting(void)
{
	return event_in(own, core);
}

/* What handlers do. */

static void counts(void)
{
	uint64_t n;

	pass(1000);
	n = count();
	pass(1000);
	untrue |= count() <= n;
}

/* A switch, after which the event is on another register. */
static void is_switched(void)
{
	victim = counting();
	if (victim != NULL)
		takes(move_register);
}

static void is_switched_and_counts(void)
{
	is_switched();
	counts();
}

/* To the other type of core, where the event's register shows what the first's
 * did, and the page has this lock. */
static void move_to_lock(uint32_t lock)
{
	const struct event *from = counting();
	struct event *to = event_in(own, 1 - core);

	to->start = from->start + from->count - to->count;
	k.next_index = from->index == 7 ? 32 : 7;
	core = 1 - core;
	on_core(core);
	to->page->lock = lock;
	show_registers();
}

/* That of the first page from now on. */
static void moves_to_new_lock_and_counts(void)
{
	move_to_lock(counting()->page->lock + 2);
	count();
}

static void loses_register(void)
{
	victim = counting();
	takes(take_away);
	k.next_index = 7;
}

/* Another event is opened, in the same place. */
static void loses_register_and_counts(void)
{
	loses_register();
	counts();
}

/* Before the interrupted call. */

static void begin_types(unsigned types)
{
	begin_cores(types);
	given = passed = uncounted = added = 0;
	pass(100000);
	count();
	pass(1000);
	count();
}

static void in_use(void)
{
	begin_types(1);
}

static void in_use_on_two_types(void)
{
	begin_types(2);
}

static void after_a_switch(void)
{
	begin_types(1);
	is_switched();
}

/* To a page whose lock is as the first's was. */
static void after_a_move(void)
{
	begin_types(2);
	move_to_lock(own->lock);
}

static void unopened_yet(void)
{
	begin_types(1);
	read_ended(cpuc_perf_own, false);
	*own = (struct cpuc_perf_thread){.quick = &zero};
	given = passed = uncounted = added = 0;
}

static void without_a_register(void)
{
	begin_types(1);
	loses_register();
}

/* By a descriptor, which somebody has closed. */
static void without_its_descriptor(void)
{
	one.reg = NULL;
	begin_types(1);
	counting()->open = false;
	loses_register();
}

/* The place is after so many returns from the kernel and steps. */
static bool at_step(void (*begin)(void), void (*what)(void), long at, long step)
{
	uint64_t n;

	begin();
	act = what;
	acts = 0;
	steps = step;
	first = at;
	count();
	first = steps = then = 0;
	/* From now on the count is exact again. */
	count();
	pass(500);
	n = count();
	pass(500);
	untrue |= count() != n + 500;
	one.reg = stepped_register;
	return acts > 0;
}

/* At each instruction outside the kernel. */
static void at_each(const char *name, void (*begin)(void), void (*what)(void))
{
	long at, step, all = 0;

	back = untrue = false;
	for (at = 1, step = 2; step > 1; at++)
		for (step = 1; at_step(begin, what, at, step); step++)
			all++;
	ok(!back && !untrue && all > 20, "%s, at %ld instructions%s%s", name,
	   all, back ? ": counts go back" : "",
	   untrue ? ": counts are untrue" : "");
}

/* And something else at each instruction from there on. */
static void at_two(const char *name, void (*begin)(void), void (*what)(void),
		   void (*later)(void))
{
	long step, after, all = 0;

	back = untrue = false;
	act_then = later;
	for (step = 1; step == 1 || acts > 0; step++) {
		after = 0;
		do
			then = ++after;
		while (at_step(begin, what, 1, step) && acts == 2);
		all += after - 1;
	}
	ok(!back && !untrue && all > 100, "%s, at %ld pairs of instructions",
	   name, all);
}

static void check_reads(void)
{
	at_each("a count that a handler's interrupts", in_use, counts);
	at_each("a switch in a count", in_use, is_switched);
	at_each("a switch, and a handler that counts", in_use,
		is_switched_and_counts);
	at_each("another event, opened by a handler's count", in_use,
		loses_register_and_counts);
	at_each("the other type of core, and a handler that counts",
		in_use_on_two_types, moves_to_new_lock_and_counts);
	at_two("the same, then a switch", in_use_on_two_types,
	       moves_to_new_lock_and_counts, is_switched);
}

static void check_pages(void)
{
	at_each("after a switch, a handler that counts", after_a_switch,
		counts);
	at_each("after a switch, another one", after_a_switch, is_switched);
	at_each("on the other type of core, a handler that counts",
		after_a_move, counts);
	at_each("on the other type of core, a switch", after_a_move,
		is_switched);
}

static void check_opening(void)
{
	at_each("a first count, a handler that counts", unopened_yet, counts);
	at_each("another event, a handler that counts", without_a_register,
		counts);
	at_each("another descriptor, a handler that counts",
		without_its_descriptor, counts);
}

/* A read of a page before there is one. */
static void faulted(int sig)
{
	(void)sig;
	ok(0, "no page is read that is not mapped");
	exit(done_testing());
}

static bool one_step(void)
{
	return at_step(in_use, counts, 1, 2);
}

int main(void)
{
	struct sigaction sa = {.sa_sigaction = stepped, .sa_flags = SA_SIGINFO};

	if (SANITIZED)
		skip_all("a sanitizer makes too many steps");
	one.reg = stepped_register;
	sigaction(SIGTRAP, &sa, NULL);
	signal(SIGSEGV, faulted);
	if (!steps_work(one_step))
		skip_all("no single steps here");
	check_reads();
	check_pages();
	check_opening();
	return done_with_kernel();
}
#else
SKIPPED_MAIN("single steps are known for x86-64 Linux alone")
#endif
