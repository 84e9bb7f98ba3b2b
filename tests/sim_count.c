/* SPDX-License-Identifier: 0BSD */
/* The calibrated count on a pretended machine: handlers, clocks that stop or
 * jump, and the time for which the thread does not run. */
#include "sim_machine.h"
#include <setjmp.h>

/* The usual machine with this kernel, in its second second. */
static void settled_with(enum kernel k)
{
	cpu = 0;
	settled((struct machine)AT(4.0, 2.596, 26, .kernel = k));
}

/* The handler comes after the work of the next call, before its last tick. */
static void handle_late(void (*handler)(void))
{
	tick_hook = handler;
	tick_hook_at = 3;
}

static uint64_t from; /* this count on, what follows is counted */

/* Intervals from a count to the next: how many count less than 0.99 of the
 * work, and the share of it that all count; and the least share of what the
 * core did up to the end of the second call, which may take long. */
struct tally {
	unsigned low;
	double least, all;
};

static struct tally tally(unsigned n, const void *row,
			  void (*interval)(const void *row, unsigned i))
{
	struct tally t = {0, 2, 0};
	double begin, done, own = 0, sum = 0, counted;
	uint64_t a;

	for (unsigned i = 0; i < n; i++) {
		a = count();
		begin = cycles;
		interval(row, i);
		done = cycles - begin;
		counted = (double)(count() - a);
		t.low += counted < 0.99 * done;
		own += done;
		sum += counted;
		done = cycles - begin;
		t.least = counted / done < t.least ? counted / done : t.least;
	}
	t.all = sum / own;
	return t;
}

static uint64_t behind;

static long long tick_behind(void)
{
	return (long long)behind;
}

static void stopping(void)
{
	uint64_t a, b, ratio;

	settled(usual);
	count();
	ratio = cpuc_own_count.ratio.mean;
	on.stopped = true;
	run(25e6);
	ok(up && cpuc_own_count.ratio.mean == ratio,
	   "a clock that stops changes nothing");
	calibrated_expire();
	a = count();
	ok(up && cpuc_own_count.ratio.mean == ratio, "nor in a measurement");
	behind = cpuc_own_count.tick - 1000;
	b = cpuc_count(tick_behind);
	ok(b >= a && b - a < 100000, "nor does one that is a little behind");
	on.stopped = false;
	run(50e6);
	ok(off() < 0.002 && up, "and it goes on");
}

/* A clock that jumps in any run of a glimpse or the windows after it, as that
 * of a virtual machine that is resumed. Products with the ratio may not fit. */
static void jumping(void)
{
	static const double by[] = {1e15, -1e9, 1e8, -1e4};
	double most, worst;
	uint64_t a;
	int run, all;
	size_t i;

	for (i = 0; i < COUNT(by); i++) {
		most = worst = 0;
		jump_in = 0;
		for (all = run = 1; jump_in == 0; run++) {
			settled(usual);
			calibrated_expire();
			jump = by[i];
			jump_in = run;
			a = count();
			worst = off() > worst ? off() : worst;
			a = count() - a;
			most = (double)a > most ? (double)a : most;
			all &= up;
		}
		ok(all && run > 6 && most < 1000 && worst < 0.002,
		   "a clock that jumps by %g ticks in one of %d runs: %.0f "
		   "cycles, %.3f%% off",
		   by[i], run - 2, most, worst * 100);
	}
	jump_in = 0;
}

/* A word that another copy of the library has armed is not armed again: that
 * copy must see that the kernel has cleared it. */
static void two_copies(void)
{
	static const uint64_t section[4] __attribute__((aligned(32)));
	static const struct cpuc_rseq_section theirs = {.start = 1,
							.length = 1};
	cpuc_rseq_word word = 0;
	struct cpuc_rseq r = {.word = &word};
	uintptr_t own, other = (uintptr_t)section;

	cpuc_rseq_rearm(&r);
	own = word;
	word = 0;
	cpuc_rseq_again(&r);
	ok(own != 0 && word == own, "an own value of the word is stored again");
	word = other;
	ok(cpuc_rseq_rearm(&r) && word == other, "another copy's stays");
	word = 0;
	cpuc_rseq_again(&r);
	ok(word == 0, "and is not stored again");
	word = (uintptr_t)&theirs;
	ok(cpuc_rseq_rearm(&r) && word != (uintptr_t)&theirs,
	   "a program's own section has ended");
}

/* Work of so many ns, counted in pieces, each time followed by so many away. */
static const struct share {
	const char *name;
	double work, piece, away;
	bool waits;
} shares[] = {
	{"a thread that has half the CPU", 4e6, 2500, 4e6, false},
	{"one of ten threads", 3e6, 2500, 27e6, false},
	{"a quota of 1 ms of 10", 1e6, 2500, 9e6, false},
	{"of 2 ms of 100", 2e6, 2500, 98e6, false},
	{"1000 sched_yield a second", 5e5, 2500, 5e5, false},
	{"sleeping 1 ms", 5e5, 2500, 1e6, true},
	{"sleeping 100 ms", 5e5, 2500, 1e8, true},
	{"1000 signals a second", 1e6, 2500, 0, false},
	{"waits of 50 us", 1e5, 1e5, 5e4, true},
	{"waits of 300 us, counts each 10 us", 1e5, 1e4, 3e5, true},
	{"questions of 100 us", 2e4, 2e4, 1e5, true},
	{"waits of 20 us", 3e4, 3e4, 2e4, true},
};

/* How far the count is off the core's work for the thread in so many turns. */
static double turns(int times, const struct share *s)
{
	double done = cycles, start;
	uint64_t a = count(), n;

	measuring = 0;
	for (int i = 0; i < times; i++) {
		start = now;
		while (now - start < s->work) {
			pass(s->piece * on.core);
			count();
		}
		leave(s->away, s->waits);
	}
	n = count();
	done = cycles - done - measuring * on.core;
	return (double)(n - a) / done - 1;
}

/* But for the shortest ones, no wait is counted; of a preemption, what the
 * thread's clock may lack. */
static void sharing(const struct share *s, enum kernel kernel)
{
	const int times = (int)(2e9 / (s->work + s->away));
	double e, most = 0.003, took;

	if (s->away > 0)
		most += ((s->waits ? 0 : 8e3) + 1e3) / s->work;
	if (kernel != REPORTS && s->away < 30e3 && s->away > 0)
		most = 0.001 + s->away / s->work;
	settled_with(kernel);
	/* These may be too high at first. */
	turns(100, s);
	e = turns(times, s);
	took = measuring / (times * s->work);
	ok(up && e > -0.001 && e < most, "%s, %s: %.3f%% off", s->name,
	   kernel_name[kernel], e * 100);
	ok(s->waits || took < 0.03, "and measures for %.2f%% of the time",
	   took * 100);
}

/* Whether waits are reported is learned from the first one that is not. */
static void learning(void)
{
	double first, second, most;

	settled(usual);
	leave(1e6, false);
	run(1e6);
	leave(1e6, true);
	run(1e6);
	leave(0, false);
	host_pauses(1e6);
	run(10e6);
	ok(!fake_misses_waits,
	   "waits that are reported, signals, and the host's pauses");
	settled_with(HIDES_WAITS);
	fake_misses_waits = false;
	/* No measurement comes in between. */
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	run(10e6);
	from = count();
	leave(1e6, true);
	first = (double)(count() - from);
	from = count();
	leave(1e5, true);
	second = (double)(count() - from);
	/* That is what two readings of the thread's clock take, and a glimpse;
	 * two more that came before, in the guard. */
	most = 9e3 + (CPUC_GLIMPSE_GUARDED ? 3 : 1) *
			     cpuc_calibration.glimpse_cost * on.core / on.ticks;
	ok(fake_misses_waits && first < most && second < most,
	   "a wait of which the word does not tell counts %.0f cycles, the "
	   "next one %.0f",
	   first, second);
}

/* In 1 s, with counts each 0.1 ms, where waits are reported. */
static void intervals(void)
{
	unsigned known = 0, changed = 0, i;
	uint64_t tick;

	settled(usual);
	for (i = 0; i < 10000; i++) {
		tick = cpuc_own_count.tick_opened;
		pass(1e5 * on.core);
		known += count() ==
			 cpuc_count_at(&cpuc_own_count,
				       count_seen(&cpuc_own_count, 0));
		changed += tick != cpuc_own_count.tick_opened;
	}
	ok(known == i, "the latest count is known: %u of %u", known, i);
	ok(changed > 200 && changed < 1300,
	   "an interval begins %u times a second", changed);
	ok(measuring < 1e9 / SHARE_STILL,
	   "counts each 0.1 ms take %.3f%% of the time", measuring / 1e7);
}

/* A measurement is due while no glimpse is. */
static void dense(void)
{
	double begin;

	settled(usual);
	begin = now;
	while (now - begin < 2e8) {
		pass(200);
		count();
	}
	ok(up && measuring < 2e8 / SHARE_STILL,
	   "counts each 50 ns take %.3f%% of the time", measuring / 2e6);
}

static void host(void)
{
	static const struct share waits = {"", 1e5, 1e4, 5e4, true};
	double e;
	int i;

	settled(usual);
	/* The thread's clock leaves out one percent, spent on interrupts. */
	for (i = 0; i < 1000; i++) {
		run(1e6);
		on.away += 1e4;
		if (i % 3 == 0)
			leave(0, false);
	}
	ok(up, "a thread's clock that leaves out interrupts: never back");
	/* What the host took once is not taken for the host's for ever. */
	settled_with(HIDES_WAITS);
	host_pauses(2e6);
	run(150e6);
	e = turns(100, &waits);
	ok(e < 0.02 && e > -0.001,
	   "waits of 50 us, long after a pause of the host's: %.3f%% off",
	   e * 100);
}

/* A virtual machine that goes on on another host: the ticks of its clock are
 * shorter than those to which the thread's clock is converted. */
static void work_and_away(const void *row, unsigned i)
{
	(void)row;
	pass(4e6);
	leave(1e6, i % 2);
	pass(4e6);
}

static void moved_to_host(double by, enum kernel kernel)
{
	struct tally t;

	settled_with(kernel);
	on.ticks *= by;
	run(300e6);
	t = tally(100, NULL, work_and_away);
	ok(up && t.least > 0.98,
	   "ticks shorter by %g, %s: intervals of 2 ms count %.3f at least", by,
	   kernel_name[kernel], t.least);
}

static void other_cpu(void)
{
	double t = 0, last;

	settled_with(HIDES_WAITS);
	for (int i = 0; i < 5; i++) {
		run(1e9);
		on.core = i % 2 ? 3.0 : 2.0;
		cpu++;
		leave(1e5, true);
		last = until_seen(1e4, 0.005);
		t = last > t ? last : t;
	}
	ok(t < 2e5, "another CPU: its rate is seen after %.2f ms", t / 1e6);
}

/* Between cores whose clocks differ by so many ns; the thread's is one. */
static void between_cores(const void *by, unsigned i)
{
	pass(2e5);
	cpu++;
	on.ahead = i % 2 ? 0 : *(const double *)by;
	leave(5e4, on.kernel != REPORTS);
	pass(2e5);
}

static void clocks_differ(double by, enum kernel kernel)
{
	struct tally t;

	settled_with(kernel);
	t = tally(1000, &by, between_cores);
	/* Of 100 us: 8 are granted, 3 the clocks may differ by unseen, and two
	 * readings of the thread's clock take 1.8. */
	ok(up && t.low == 0 && t.all < 1.128,
	   "clocks %g s apart, %s: %u intervals too low, %.3f in all", by / 1e9,
	   kernel_name[kernel], t.low, t.all);
}

/* What may come in each interval of 20 us, once in so many, and how long it
 * takes, in ns. */
static const struct disturbance {
	const char *name;
	unsigned host, others, waits; /* once in so many intervals, or 0 */
	double host_most, others_most, waits_most;
} disturbances[] = {
	{"others", 0, 5, 0, 0, 8e6, 0},
	{"waits", 0, 0, 3, 0, 0, 8e5},
	{"short waits", 0, 0, 2, 0, 0, 6e4},
	{"others and waits", 0, 20, 3, 0, 1e5, 1e5},
	{"interrupts and others", 3, 300, 0, 1e3, 8e6, 0},
};

static bool once_in(unsigned n)
{
	return n > 0 && (unsigned)up_to(4 * n) == 0;
}

/* The work of an interval in four pieces, with disturbances between them.
 * Whoever takes the CPU has the thread's clock lack up to 8 us of what the
 * thread ran. */
static void disturbed_interval(const void *row, unsigned unused)
{
	const struct disturbance *s = row;

	(void)unused;
	for (int i = 0; i < 4; i++) {
		pass(5e3 * on.core);
		if (once_in(s->host))
			host_pauses(up_to(s->host_most));
		if (once_in(s->others)) {
			on.away += up_to(5e3);
			leave(up_to(s->others_most), false);
		}
		if (once_in(s->waits))
			leave(up_to(s->waits_most), true);
	}
}

static void disturbed(const struct disturbance *s, enum kernel kernel)
{
	/* The first few, until what interrupts take is known. */
	const unsigned n = 100000, most = s->host ? n / s->others / 20 : 0;
	struct tally t;

	settled_with(kernel);
	t = tally(n, s, disturbed_interval);
	ok(t.low <= most && up,
	   "%s, %s: %u of %u intervals of 20 us show less than the work, the "
	   "lowest %.3f of it; %.3f in all",
	   s->name, kernel_name[kernel], t.low, n, t.least, t.all);
}

static uint64_t inner[2];
static jmp_buf out;

static double inner_work = 20000;

static void handler(void)
{
	inner[0] = count();
	pass(inner_work);
	inner[1] = count();
	pass(1000);
}

static void leaver(void)
{
	inner[0] = count();
	longjmp(out, 1);
}

/* Handlers that count, just after a measurement or in its midst. */
static void signals(void)
{
	uint64_t a, b;
	int right = 1;

	settled(usual);
	for (int i = 0; i < 1000; i++) {
		inner_work = i % 10 ? 20000 : 4e8;
		count();
		calibrated_expire();
		handle_late(handler);
		a = count();
		up &= a <= inner[0];
		right &= inner[0] - a < 1000;
		b = count();
		a = inner[1] - inner[0];
		right &= distance((double)a / inner_work - 1) < 0.004;
		right &= b - inner[1] > 1000 && b - inner[1] < 1500;
		pass(90000);
		calibrated_expire();
		tick_hook = handler;
		tick_hook_at = 2;
		b = count();
		right &= b - inner[1] > 1000 && b - inner[1] < 1500;
	}
	ok(up && right, "handlers before and after measurements: never "
			"decreasing, and their work is counted once");
	inner_work = 20000;
	open_signals = true;
	for (int i = 0; i < 1000; i++) {
		a = count();
		calibrated_expire();
		hook = handler;
		b = count();
		up &= a < inner[0] && inner[1] == inner[0] + 1 && inner[1] <= b;
		right &= inner[0] - a < 200;
		pass(90000);
	}
	open_signals = false;
	ok(up && right, "in their midst: one more than the latest, each time");
	calibrated_expire();
	handle_late(leaver);
	if (!setjmp(out)) {
		count();
		up = 0;
	}
	on.core = 2.0;
	run(70e6);
	ok(up && off() < 0.005, "a handler that never returns: measures again");
}

/* Where nothing tells of switches, there may have been one. */
static void deny_switches(void)
{
	on.switches_unknown = true;
	run(1e9);
	from = count();
	leave(1e6, true);
}

/* A call in the midst of a thread's first one. */
static void first_in_midst(void)
{
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
	cpuc_guard_inside = true;
	highest = 0;
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
	from = count();
	leave(1e5, true);
	leave(1e5, true);
}

static void asked(void)
{
	two_waits();
	cpuc_count_interruptions();
}

static void host_waits(void)
{
	host_pauses(1e6);
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
	{"a call in the midst of a thread's first one", REPORTS, 0,
	 first_in_midst, 20000, 20000, 24000},
	{"a wait of a child's", HIDES_WAITS, 0, forked, 0, 0, 8e3},
	{"3 s of work of a child's, and a wait", REPORTS, 0, forked_long_ago,
	 12e9, 11.99e9, 12.01e9},
	/* On 32-bit hosts the guard's system calls count. */
	{"two waits", REPORTS, 0, two_waits, 0, 0, 1e4},
	{"two waits, and then interruptions are asked for", REPORTS, 0, asked,
	 0, 0, 1e4},
	{"a preemption of 50 ms in a measurement", REPORTS, 0,
	 preempted_measuring, 4e5, 390000, 450000},
	{"a tick that is too old", REPORTS, 1000, NULL, 20000, 20000, 24000},
	{"almost 2^31 too old", REPORTS, 0x70000000, NULL, 20000, 20000, 24000},
	{"more than that", REPORTS, 0x90000000, NULL, 20000, 20000, 24000},
	{"almost 2^32", REPORTS, 0xf0000000, NULL, 20000, 20000, 24000},
	/* What such a tick may have had of it is in no later pause. */
	{"a wait before that is known", NO_WORD, 1000, wait_before, 8e6,
	 7990000, 8.1e6},
	/* That is no time for which the thread ran. */
	{"a wait between a glimpse and the tick at which the interval goes on",
	 NO_WORD, 0, waited_glimpsing, 8e6, 7990000, 8.1e6},
	{"or between two intervals", NO_WORD, 0, waited_opening, 8e6, 7990000,
	 8.1e6},
	/* It is not hidden by their time. In the guard this counts. */
	{"a wait after glimpses of 4.4e5 cycles", REPORTS, 0, glimpses_ran, 0,
	 0, CPUC_GLIMPSE_GUARDED ? 6e5 : 1e5},
	/* What the thread ran before is in its clock, but not in what the
	 * handler adds to that. 8 us are granted, and two readings. */
	{"a handler between two intervals, preempted", REPORTS, 0,
	 between_intervals, 0, 390000, 450000},
};

static void follow(const struct event *e)
{
	double n;

	settled_with(e->kernel);
	calibrated_expire();
	from = count();
	cpuc_own_count.last -= e->late;
	if (e->happens != NULL)
		e->happens();
	pass(e->work);
	n = (double)(count() - from);
	ok(up && tick_hook == NULL && n >= e->least && n < e->most,
	   "%s: then %.0f cycles count", e->what, n);
}

static void glimpse_now(void)
{
	pass(1e3);
	cpuc_own_count.ratio.glimpse_in = 0;
	cpuc_own_count.due = 1;
	count();
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
	ok(r->measure_in <= cpuc_calibration.window_ticks * MEASUREMENT_LENGTH *
				    MEASUREMENT_MOVING,
	   "and a measurement soon");
	settled((struct machine)AT(4.0, 2.596, 1));
	r->measure_in = UINT32_MAX;
	r->glimpse_drift =
		2 * GLIMPSE_MEAN *
		cpuc_glimpse_part(&cpuc_calibration, r->mean, STEP_PAIR);
	windows = 0;
	glimpse_now();
	glimpse_now();
	ok(windows == 1, "of two glimpses after a drift one does: %u", windows);
}

/* Nothing tells of waits where the thread's clock is not believed, or where
 * there is no memory for marks. */
static void clock_unknown(bool believed)
{
	struct cpuc_process *process = cpuc_process;
	double done;

	settled(usual);
	cpuc_calibration.thread_clock = believed;
	if (believed)
		cpuc_process = NULL;
	calibrated_forget();
	ok(!cpuc_count_alone(), "waits count: %s",
	   believed ? "no memory" : "no clock");
	run(10e6);
	from = count();
	done = now;
	leave(1e5, true);
	pass(4e4);
	done = (now - done) * on.core;
	ok(distance((double)(count() - from) / done - 1) < 0.01 && up,
	   "and do");
	cpuc_process = process;
}

/* Interruptions of the thread, before and after it has counted. */
static void interruptions(bool calibrated)
{
	uint32_t before;
	bool known;
	int i;

	settled(usual);
	calibrated_forget();
	if (!calibrated)
		cpuc_calibration.clock = NULL;
	known = cpuc_count_interruptions() >= 0;
	before = cpuc_own_count.interruptions;
	for (i = 0; i < 10; i++) {
		pretended_word = 0;
		cpuc_count_interruptions();
		known &= cpuc_count_interruptions() >= 0;
	}
	ok(known && cpuc_own_count.interruptions - before == 10,
	   "%s: of 10 interruptions %u are known",
	   calibrated ? "while it counts" : "without a calibration",
	   (unsigned)(cpuc_own_count.interruptions - before));
}

static void tracer(void)
{
	pretended_word = 0;
}

/* What stops a thread at the end of a system call of the count's own clears the
 * word, before the interval begins. */
static void traced(void)
{
	uint32_t interrupted;

	settled(usual);
	open_signals = true;
	calibrated_expire();
	handle_late(tracer);
	count();
	open_signals = false;
	interrupted = cpuc_own_count.interruptions;
	count();
	ok(tick_hook == NULL && cpuc_own_count.interruptions == interrupted,
	   "a stop before the interval is no interruption in it");
}

static int again; /* how much later another one comes, or 0 */

static void twice(void)
{
	count();
	pass(20000);
	count();
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
	settled(usual);
	calibrated_expire();
	count();
	cpuc_own_count.due = (uint32_t)(4e6 * on.ticks);
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	pass(1e5);
	tick_hook = counts_on;
	tick_hook_at = 2;
	count();
	on.core /= 2;
	calibrated_expire();
	count();
	ok(up && tick_hook == NULL && off() < 0.005,
	   "nor is one below those of a handler in the fast path");
}

/* Hours in which the core did nothing. The clock went on, stood still, or began
 * anew; and the time that the clock then shows is some bits longer. */
static void suspended(void)
{
	static const double to[] = {4e9,         3600e9 * 8,
				    1e3,         2147483648.,
				    4294967296., 281474976710656. / 2.596,
				    1e3};
	int right = 1;
	size_t i;

	settled(usual);
	for (i = 0; i < COUNT(to); i++) {
		now = to[i] - 1e3;
		run(200e6);
		from = count();
		pass(4e6);
		right &= distance((double)(count() - from) / 4e6 - 1) < 0.002;
	}
	ok(up, "a clock that was somewhere else: never decreases");
	ok(right, "and then the count is right");
}

static void on_kernel(enum kernel kernel)
{
	static const double apart[] = {1.6e9, -1.6e9, 3e3};
	size_t i;

	for (i = 0; i < COUNT(shares); i++)
		sharing(&shares[i], kernel);
	for (i = 0; i < COUNT(disturbances); i++)
		disturbed(&disturbances[i], kernel);
	for (i = 0; i < COUNT(apart); i++)
		clocks_differ(apart[i], kernel);
	moved_to_host(1.05, kernel);
	moved_to_host(1.25, kernel);
}

int main(void)
{
	enum kernel kernel;
	size_t i;

	machine_prepare();
	for (kernel = REPORTS; kernel < KERNELS; kernel++)
		on_kernel(kernel);
	/* One machine in twelve forgot what its glimpses take. */
	for (seed = 1; seed <= 40; seed++)
		moved_to_host(1.25, REPORTS);
	seed = 0;
	for (i = 0; i < COUNT(events); i++)
		follow(&events[i]);
	stopping();
	jumping();
	two_copies();
	learning();
	intervals();
	dense();
	host();
	other_cpu();
	signals();
	glimpse_disturbed();
	traced();
	for (i = 0; i < 2; i++) {
		clock_unknown(i);
		interruptions(i);
	}
	at_any_tick(false);
	at_any_tick(true);
	in_fast_path();
	suspended();
	return done_testing();
}
