/* SPDX-License-Identifier: 0BSD */
/* The calibrated count on a pretended machine: handlers, clocks that stop or
 * jump, children, and single pauses. */
#include "sim_machine.h"
#include <setjmp.h>

/* The handler comes after the work of the next call, before its last tick. */
static void handle_late(void (*handler)(void))
{
	tick_hook = handler;
	tick_hook_at = 3;
}

/* A clock that jumps in any run of a glimpse or the windows after it, as that
 * of a virtual machine that is resumed. Products with the ratio may not fit. */
static void jumping(double by)
{
	double most = 0, worst = 0;
	uint64_t a;
	int run, all = 1;

	for (run = 1; jump_in == 0; run++) {
		settled(usual);
		calibrated_expire();
		jump = by;
		jump_in = run;
		a = count();
		worst = off() > worst ? off() : worst;
		a = count() - a;
		most = (double)a > most ? (double)a : most;
		all &= up;
	}
	jump_in = 0;
	ok(all && run > 6 && most < 1000 && worst < 0.002,
	   "a clock that jumps by %g ticks in one of %d runs: %.0f cycles, "
	   "%.3f%% off",
	   by, run - 2, most, worst * 100);
}

static uint64_t from; /* this count on, what follows is counted */
static double unseen; /* and of a wait so many cycles, which may be lost */

/* From a count on that a wait follows. */
static void from_wait(void)
{
	const struct cpuc_core_count *c = &cpuc_own_count;

	from = count();
	unseen = (double)(c->unread + (c->last - c->tick_opened)) / on.ticks *
		 on.core / LOST_UNSEEN;
}

static jmp_buf out;

static void leaver(void)
{
	count();
	longjmp(out, 1);
}

/* A handler that never returns; then the core is slower. */
static void left(void)
{
	calibrated_expire();
	handle_late(leaver);
	if (!setjmp(out)) {
		count();
		up = 0;
	}
	on.core = 2.0;
	run(70e6);
	from = count();
}

static void stops(void)
{
	on.stopped = true;
	run(25e6);
	calibrated_expire();
	count();
	on.stopped = false;
	run(50e6);
	from = count();
}

/* A CPU of another rate, which is seen within 0.2 ms. */
static void other_cpu(void)
{
	run(1e9);
	on.core = 2.0;
	cpu++;
	leave(1e5, true);
	run(2e5);
	from = count();
}

/* Whether waits are reported is learned from the first one that is not. */
static void first_wait(void)
{
	fake_misses_waits = false;
	/* No measurement comes in between. */
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	run(10e6);
	from_wait();
	leave(1e6, true);
}

static void second_wait(void)
{
	first_wait();
	from = count();
	leave(1e5, true);
}

static void counts_on(void)
{
	for (int i = 0; i < 8; i++) {
		pass(4e5 * on.core);
		count();
	}
}

/* A handler counts for 3 ms after a call has read the clock, with no glimpse
 * due; then the core becomes slower. */
static void in_fast_path(void)
{
	cpuc_own_count.due = (uint32_t)(4e6 * on.ticks);
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	pass(1e5);
	tick_hook = counts_on;
	tick_hook_at = 2;
	count();
	on.core /= 2;
	calibrated_expire();
	from = count();
}

/* Nothing tells of waits where the thread's clock is not believed, or where
 * there is no memory for marks. */
static void wait_unseen(void)
{
	calibrated_forget();
	highest = 0;
	run(10e6);
	from = count();
	leave(1e5, true);
}

static void clock_unknown(void)
{
	cpuc_calibration.thread_clock = false;
	wait_unseen();
}

static void no_memory(void)
{
	cpuc_process = NULL;
	wait_unseen();
}

/* Where nothing tells of switches, there may have been one. */
static void deny_switches(void)
{
	on.switches_unknown = true;
	run(1e9);
	from = count();
	leave(1e6, true);
}

/* Calls in the midst of a thread's first one, at first more than one in a step
 * of the clock. */
static void first_in_midst(void)
{
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
	cpuc_guard_inside = true;
	highest = 0;
	on.step *= 8;
	for (int i = 0; i < 5; i++)
		count();
	on.step /= 8;
	from = count();
	cpuc_guard_inside = false;
}

/* A child goes on with its parent's count, but not with its switches, which
 * begin at 0 with its clock. */
static void forked(void)
{
	for (int i = 0; i < 1000; i++)
		leave(1e5, true);
	run(10e6);
	cpuc_process->mark[cpuc_process_generation % CPUC_MARKS] = 0;
	waited = preempted = 0;
	on.away = now;
	pretended_word = 0; /* the kernel switches to a new process */
	calibrated_expire();
	from = count();
	leave(1e6, true);
}

static void robber(void)
{
	leave(50e6, false);
}

static void preempted_measuring(void)
{
	calibrated_expire();
	hook = robber;
	count();
	hook = NULL;
}

/* A fault's handler counts in a call that has not looked at anything yet. */
static void fault_in_guard(void)
{
	pass(20000);
	cpuc_own_count.due = 0;
	cpuc_guard_inside = true;
	count();
	cpuc_guard_inside = false;
}

static void waiter(void)
{
	leave(1e6, true);
}

/* One whose clock has passed what its parent's was; neither has waited. */
static void forked_long_ago(void)
{
	cpuc_process->mark[cpuc_process_generation % CPUC_MARKS] = 0;
	waited = preempted = 0;
	cpuc_own_count.voluntary = cpuc_own_count.involuntary = 0;
	on.away = now + 1e9;
	waiter();
}

static void two_waits(void)
{
	run(1e6);
	from_wait();
	leave(1e5, true);
	leave(1e5, true);
}

static void host_waits(void)
{
	host_pauses(1e6);
}

/* A preemption in a system call, of which new kernels do not tell, either; then
 * a signal, which clears the word. */
static void signal_later(void)
{
	pass(2e4);
	host_pauses(2e4);
	preempted++;
	from = count();
	pretended_word = 0;
}

/* A little more than 30 us, and a little less. */
static void wait_35_us(void)
{
	leave(35e3, true);
}

static void wait_1_s(void)
{
	leave(1e9, true);
}

static void wait_25_us(void)
{
	leave(25e3, true);
}

static void wait_before(void)
{
	waiter();
	from = count();
}

static void waited_glimpsing(void)
{
	pass(1e4);
	cpuc_own_count.due = 1;
	handle_late(waiter);
	from = count();
}

static void waited_opening(void)
{
	calibrated_expire();
	handle_late(waiter);
	from = count();
}

static void glimpses_ran(void)
{
	for (int i = 0; i < 100; i++) {
		pass(1e3);
		cpuc_own_count.due = 1;
		from = count();
	}
	waiter();
}

static void preempted_handler(void)
{
	pass(4e5);
	leave(1e6, false);
	count();
}

static void between_intervals(void)
{
	pass(4e5);
	calibrated_expire();
	handle_late(preempted_handler);
	from = count();
}

static void counts(void)
{
	count();
}

/* Intervals that handlers end without an interruption, and a wait after them:
 * the thread's clock was last read before the first. */
static void handlers_then_wait(void)
{
	run(10e6);
	for (int i = 0; i < 10; i++) {
		tick_hook = counts;
		tick_hook_at = 1;
		pass(5e4);
		from_wait();
	}
	leave(1e6, true);
}

/* A signal that came in the guard: its handler begins the next interval, and is
 * preempted in it. */
static void begins_next(int sig)
{
	(void)sig;
	from = count();
	leave(2e5, false);
}

static void raises(void)
{
	raise(SIGUSR1);
}

static void at_guards_end(void)
{
	signal(SIGUSR1, begins_next);
	calibrated_expire();
	open_signals = true;
	handle_late(raises);
	count();
	open_signals = false;
}

/* So much of a preemption counts, in cycles, as the machine is no virtual one.
 */
#define HIDES (4e9 / SWITCH_HIDES)

/* After a measurement the latest tick that is known was so many ticks before
 * it, as a call stores what it read before a handler interrupted it; this
 * happens; and so many cycles of work follow. How many count, from what that
 * has returned on. */
static const struct event {
	const char *what;
	enum kernel kernel;
	uint32_t late;
	void (*happens)(void);
	double work, least, most;
} events[] = {
	{"a pause of 1 ms of the host's", REPORTS, 0, host_waits, 0, 0, 4.1e6},
	/* One more may hide between two counts, for a gap. */
	{"switches are unknown: a wait of 1 ms", NO_WORD, 0, deny_switches, 0,
	 0, 2 * 4e9 / 32768},
	/* The clock has steps of 40 cycles. */
	{"calls in the midst of a thread's first one", REPORTS, 0,
	 first_in_midst, 20000, 19960, 24000},
	{"a wait of a child's", HIDES_WAITS, 0, forked, 0, 0, 8e3},
	{"3 s of work of a child's, and a wait", REPORTS, 0, forked_long_ago,
	 12e9, 11.99e9, 12.01e9},
	/* On 32-bit hosts the guard's system calls count. */
	{"two waits", REPORTS, 0, two_waits, 0, 0, 1e4},
	/* That is what two readings of the thread's clock take, and a glimpse;
	 * two more that came before, in the guard. */
	{"a wait of which the word does not tell", HIDES_WAITS, 0, first_wait,
	 0, 0, CPUC_GLIMPSE_GUARDED ? 2.2e4 : 1.34e4},
	{"another one", HIDES_WAITS, 0, second_wait, 0, 0,
	 CPUC_GLIMPSE_GUARDED ? 2.2e4 : 1.34e4},
	{"a wait of 35 us that is not reported", NO_WORD, 0, wait_35_us, 0, 0,
	 CPUC_GLIMPSE_GUARDED ? 2.2e4 : 1.34e4},
	{"one of 25 us, which no reading of the clock shows", NO_WORD, 0,
	 wait_25_us, 0, 0.99e5, 1.02e5},
	{"a wait of 1e5 ns, the thread's clock is not believed", REPORTS, 0,
	 clock_unknown, 4e4, 4.37e5, 4.43e5},
	{"the same, and there is no memory", REPORTS, 0, no_memory, 4e4, 4.37e5,
	 4.43e5},
	{"another CPU of half the rate", HIDES_WAITS, 0, other_cpu, 4e6, 3.98e6,
	 4.02e6},
	{"a clock that stood still", REPORTS, 0, stops, 4e6, 3.99e6, 4.01e6},
	{"a handler that never returns, on a core of half the rate", REPORTS, 0,
	 left, 4e6, 3.98e6, 4.02e6},
	{"a handler in the fast path, then half the rate", REPORTS, 0,
	 in_fast_path, 4e6, 3.98e6, 4.02e6},
	{"a preemption of 50 ms in a measurement", REPORTS, 0,
	 preempted_measuring, 4e5, 390000, 4e5 + HIDES + 2e4},
	{"a tick that is too old", REPORTS, 1000, NULL, 20000, 20000, 24000},
	{"such a tick, and a fault's handler in the guard", REPORTS, 1000,
	 fault_in_guard, 20000, 40000, 44000},
	{"more than 2^31 too old", REPORTS, 0x90000000, NULL, 20000, 20000,
	 24000},
	/* It may have been from after the wait: up to 5 ms count. */
	{"such a tick, and a wait of 1 s", REPORTS, 1000, wait_1_s, 0, 0,
	 4e9 / 190},
	/* What such a tick may have had of it is in no later pause. */
	{"a wait before that is known", NO_WORD, 1000, wait_before, 8e6,
	 7990000, 8.1e6},
	{"a pause before that is known, then a signal", HIDES_WAITS, 0,
	 signal_later, 8e4, 79900, 90000},
	/* That is no time for which the thread ran. */
	{"a wait between a glimpse and the tick at which the interval goes on",
	 NO_WORD, 0, waited_glimpsing, 8e6, 7990000, 8.1e6},
	{"or between two intervals", NO_WORD, 0, waited_opening, 8e6, 7990000,
	 8.1e6},
	/* It is not hidden by their time. In the guard this counts. */
	{"a wait after glimpses of 4.4e5 cycles", REPORTS, 0, glimpses_ran, 0,
	 0, CPUC_GLIMPSE_GUARDED ? 6e5 : 1e5},
	/* What the thread ran before is in its clock, but not in what the
	 * handler adds to that. So much is granted, and two readings. */
	{"a handler between two intervals, preempted", REPORTS, 0,
	 between_intervals, 0, 390000, 4e5 + HIDES + 2e4},
	{"a wait after handlers have ended intervals", REPORTS, 0,
	 handlers_then_wait, 0, 0, 1e4},
	{"one at the guard's end", REPORTS, 0, at_guards_end, 4e5, 390000,
	 4e5 + HIDES + 2e4},
};

static void follow(const struct event *e)
{
	struct cpuc_process *process = cpuc_process;
	double n;

	settled_with(e->kernel);
	calibrated_expire();
	unseen = 0;
	from = count();
	cpuc_own_count.last -= e->late;
	if (e->happens != NULL)
		e->happens();
	pass(e->work);
	n = (double)(count() - from);
	ok(up && tick_hook == NULL && n >= e->least && n < e->most + unseen,
	   "%s: then %.0f cycles count", e->what, n);
	cpuc_process = process;
}

/* A CPU whose clock is behind: no measurement is due there. If it is slower, no
 * long interval ends there, for which many windows would be run, though no
 * thread's clock tells. */
static void behind(double slower, unsigned most)
{
	double window;

	settled(usual);
	clock_unknown();
	calibrated_expire();
	count();
	pass(1e4);
	on.ahead -= 1e6;
	on.core /= slower;
	cpu += slower > 1;
	window = slower * cpuc_calibration.window_ticks / on.ticks;
	measuring = 0;
	count();
	ok(up && measuring > 0 && measuring < most * window,
	   "a CPU of 1/%.0f of the rate, whose clock is behind, takes %.1f us",
	   slower, measuring / 1e3);
}

static uint64_t glimpse_now(void)
{
	pass(1e3);
	cpuc_own_count.ratio.glimpse_in = 0;
	cpuc_own_count.due = 1;
	return count();
}

/* One window at the ratio in use tells that it was the glimpse. But as the rate
 * may have moved by less than a step, a measurement comes soon. So it is if the
 * mean of glimpses drifts, and that is forgotten then. */
static void glimpse_disturbed(void)
{
	struct cpuc_ratio *r = &cpuc_own_count.ratio;

	settled(usual);
	count();
	r->glimpse_overhead += 10000;
	r->measure_in = UINT32_MAX;
	windows = 0;
	glimpse_now();
	ok(up && windows == 1, "a disturbed glimpse brings a window: %u",
	   windows);
	ok(r->measure_in <=
		   cpuc_calibration.window_ticks * MEASUREMENT_SHORT * MEASUREMENT_MOVING,
	   "and a measurement soon");
	settled((struct machine)AT(4.0, 2.596, 1));
	r->measure_in = UINT32_MAX;
	r->glimpse_drift =
		2 * GLIMPSE_MEAN *
		cpuc_glimpse_part(&cpuc_calibration, r->estimate, STEP_PAIR);
	windows = 0;
	glimpse_now();
	up &= r->glimpse_drift == 0;
	glimpse_now();
	ok(up && windows == 1, "of two glimpses after a drift one does: %u",
	   windows);
}

/* A handler that counts at any tick of a glimpse in an open interval, and takes
 * no longer than the glimpse: the call gives no less. (Where glimpses are made
 * in the guard, the handler comes after it.) */
static void glimpse_interrupted(void)
{
	uint64_t n;
	int at, all = 1;

	settled(usual);
	for (at = 1; tick_hook == NULL; at++) {
		count();
		tick_hook = counts;
		tick_hook_at = at;
		n = glimpse_now();
		all &= up && (CPUC_GLIMPSE_GUARDED || n == highest);
	}
	tick_hook = NULL;
	ok(all && at > 4, "a handler counts at any of %d ticks", at - 2);
}

/* Measurements on a core that is not disturbed: the mean of their overheads is
 * one of WINDOW_OVERHEADS, whose number is in the last five bits. The time since
 * a step ends at its most. */
static void settles(void)
{
	struct cpuc_ratio *r = &cpuc_own_count.ratio;
	const uint32_t most = UINT32_MAX;
	int first;

	settled((struct machine)AT(4.0, 2.596, 1));
	r->overhead[1] = 0;
	calibrated_expire();
	count();
	first = r->overhead[1] & 31;
	run(60e9);
	ok(first == 1 && (r->overhead[1] & 31) == WINDOW_OVERHEADS,
	   "a mean of %d overhead, then of %d", first, r->overhead[1] & 31);
	r->stepped_ago = most - 10;
	run(20e6);
	ok(up && r->stepped_ago == most, "%u ticks, or more, since a step",
	   r->stepped_ago);
}

/* Where one of six runs is disturbed a glimpse costs no more. */
static void costs(void)
{
	struct machine disturbed = usual;
	uint32_t cost, most = 0;

	disturbed.bad = 3;
	open_machine(usual);
	cost = cpuc_calibration.glimpse_cost;
	for (seed = 1; seed <= 50; seed++) {
		open_machine(disturbed);
		if (most < cpuc_calibration.glimpse_cost)
			most = cpuc_calibration.glimpse_cost;
	}
	seed = 0;
	ok(most < 2 * cost, "disturbed glimpses seem to cost %u ticks, not %u",
	   most, cost);
}

static void stopped(void)
{
	pretended_word = 0;
}

/* As if the thread had not counted, but asked for its interruptions. */
static void calibrated_forget_count(void)
{
	const struct cpuc_rseq rseq = cpuc_own_count.rseq;
	const uint32_t n = cpuc_own_count.interruptions;

	calibrated_forget();
	cpuc_own_count.rseq = rseq;
	cpuc_own_count.interruptions = n;
}

/* Interruptions of the thread, before and after it has counted: each is known,
 * also in the guard, and before its first count. */
static void interruptions(bool calibrated)
{
	long long before;
	uint32_t cleared;
	bool known;
	int i;

	settled(usual);
	calibrated_forget();
	if (!calibrated)
		cpuc_calibration.clock = NULL;
	before = cpuc_count_interruptions();
	known = before >= 0;
	for (i = 0; i < 20; i++) {
		if (i % 2 == 0) {
			stopped();
		} else if (calibrated) {
			open_signals = true;
			calibrated_expire();
			handle_late(stopped);
			count();
			open_signals = false;
		} else {
			stopped();
			cpuc_calibration.clock = &the_clock;
			count();
			calibrated_forget_count();
			cpuc_calibration.clock = NULL;
		}
		known &= cpuc_count_interruptions() > before;
		before = cpuc_count_interruptions();
	}
	ok(known, "%s: each of %d interruptions is known",
	   calibrated ? "while it counts" : "without a calibration", i);
	if (!calibrated)
		return;
	/* Those of this process are not pretended: only what cleared words. */
	cleared = cpuc_own_count.interruptions;
	run(1e8);
	ok(cpuc_own_count.interruptions == cleared,
	   "while nobody interrupts it, their number stands still");
}

/* What clears the word in the guard, as a tracer does at each system call, sends
 * the next call into no guard. */
static void told_in_guard(void)
{
	uint32_t opened;

	settled(usual);
	open_signals = true;
	calibrated_expire();
	handle_late(stopped);
	count();
	open_signals = false;
	opened = cpuc_own_count.tick_opened;
	pass(1000);
	count();
	ok(cpuc_own_count.tick_opened == opened,
	   "after an interruption in the guard the next call is quick");
}

static uint64_t in_midst[2];

static void counts_twice(void)
{
	in_midst[0] = count();
	in_midst[1] = count();
}

/* The handler of a fault, or any where none can be blocked. */
static void midst(void)
{
	uint64_t before;

	settled(usual);
	before = count();
	calibrated_expire();
	hook = counts_twice;
	count();
	ok(up && in_midst[0] == before + 1 && in_midst[1] == before + 2,
	   "in the midst of a measurement, calls count one more each");
}

/* The kernel clears the word. */
static void moves(bool to_other)
{
	settled(usual);
	calibrated_expire();
	count();
	glimpses = 0;
	cpu += to_other;
	leave(1e3, false);
	count();
	ok(glimpses == to_other,
	   to_other ? "a move to another CPU: the next call has a glimpse"
		    : "but none after a preemption");
}

static int again; /* how much later another one comes, or 0 */

static void handler(void)
{
	count();
	pass(20000);
	count();
}

static void twice(void)
{
	handler();
	tick_hook = again > 0 ? twice : NULL;
	tick_hook_at = again;
	again = 0;
}

/* Handlers at any two ticks that are read for a count, or by its measurement:
 * no later count is below any that they were given. */
static int at_ticks(int first, int second)
{
	int all;

	count();
	/* In the base's time, and long after it. */
	pass(second % 3 ? 40000 : 4e8);
	calibrated_expire();
	/* For this call, but not for the handler's. */
	cpuc_own_count.due = (uint32_t)(30000 * on.ticks / on.core);
	tick_hook = twice;
	tick_hook_at = first;
	again = second;
	hook = open_signals && first % 2 ? handler : NULL;
	count();
	hook = NULL;
	all = tick_hook == NULL;
	tick_hook = NULL;
	count();
	return all;
}

static void at_any_tick(bool open)
{
	int first, second;

	settled(usual);
	open_signals = open;
	for (first = 1; first < 100 && at_ticks(first, 0); first++)
		for (second = 1; second < 100 && at_ticks(first, second);
		     second++)
			;
	open_signals = false;
	ok(up && first > 4 && first < 100,
	   "handlers that count at any two of %d ticks%s", first - 1,
	   open ? ", signals open" : "");
}

/* Hours in which the core did nothing. The clock went on, stood still, or began
 * anew; and the time that the clock then shows is some bits longer. */
static void suspended(void)
{
	static const double to[] = {4e9,         3600e9 * 8,
				    1e3,         2147483648.,
				    4294967296., 281474976710656. / 2.596,
				    1e3};
	size_t i;

	settled(usual);
	for (i = 0; i < COUNT(to); i++) {
		now = to[i] - 1e3;
		run(200e6);
		from = count();
		pass(4e6);
		up &= distance((double)(count() - from) / 4e6 - 1) < 0.002;
	}
	ok(up, "a clock that was somewhere else: never decreases, and then the "
	       "count is right");
}

/* Counts 50 ns apart, or a little more, which end no interval: a measurement is
 * due while no glimpse is. Some keep step with the clock, and glimpses seem off
 * for a while. */
static void dense(void)
{
	const int machines = 20;
	double begin, sum = 0;

	for (int i = 0; i < machines; i++) {
		settled(usual);
		for (begin = now; now - begin < 2e8; count())
			pass(200 + i);
		sum += measuring / (now - begin);
	}
	ok(up && sum / machines < 1. / SHARE_STILL,
	   "counts each 50 ns take %.3f%% of the time", sum / machines * 100);
}

/* A critical section of the program's own has ended, so the word is free. */
static void own_section(void)
{
	static const struct cpuc_rseq_section theirs = {.start = 1,
							.length = 1};
	cpuc_rseq_word word = (uintptr_t)&theirs;
	struct cpuc_rseq r = {.word = &word};

	ok(cpuc_rseq_rearm(&r) && word != (uintptr_t)&theirs,
	   "a program's own section is replaced");
}

int main(void)
{
	size_t i;

	machine_prepare();
	for (i = 0; i < COUNT(events); i++)
		follow(&events[i]);
	jumping(1e15);
	jumping(-1e9);
	jumping(1e8);
	jumping(-1e4);
	glimpse_disturbed();
	glimpse_interrupted();
	settles();
	costs();
	interruptions(true);
	interruptions(false);
	told_in_guard();
	midst();
	moves(true);
	moves(false);
	behind(1, MEASUREMENT_SHORT);
	behind(2, STEP_WINDOWS);
	at_any_tick(false);
	at_any_tick(true);
	suspended();
	dense();
	own_section();
	return done_testing();
}
