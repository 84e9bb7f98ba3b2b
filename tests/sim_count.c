/* SPDX-License-Identifier: 0BSD */
/* The calibrated count on a pretended machine: handlers, clocks that stop or
 * jump, and the time for which the thread does not run. */
#include "sim_machine.h"
#include <setjmp.h>

/* Runs f for each kind of kernel. */
static void on_kernels(void (*f)(const void *row, enum kernel kernel),
		       const void *rows, size_t n, size_t size)
{
	enum kernel kernel;
	size_t i;

	for (i = 0; i < n; i++)
		for (kernel = REPORTS; kernel < KERNELS; kernel++)
			f((const char *)rows + i * size, kernel);
}

#define ON_KERNELS(f, rows) \
	on_kernels(f, rows, sizeof rows / sizeof *rows, sizeof *rows)

static struct machine with(enum kernel kernel)
{
	struct machine m = usual;

	m.kernel = kernel;
	return m;
}

static void slow_handler(void)
{
	pass(4e8);
	count();
	pass(1e6);
}

/* A handler that comes while signals are blocked runs just after. */
static void delayed(void)
{
	struct machine m = usual;
	uint64_t a, b;

	/* Fewer cycles than ticks. */
	m.core = 2.0;
	settled(m);
	a = count();
	calibrated_expire();
	tick_hook = slow_handler;
	tick_hook_at = 3;
	b = count();
	ok(b - a < 1000 && tick_hook == NULL,
	   "a handler after a measurement is not in its count: %.4g",
	   (double)(b - a));
	b = count();
	/* By a ratio that is nearly right. */
	ok(distance((double)(b - a) / 401e6 - 1) < 0.001,
	   "and counts once in the next: %.4g", (double)(b - a));
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
	for (int i = 0; i < 1000; i++) {
		pass(90000);
		count();
	}
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

/* A clock that jumps once or twice, as that of a virtual machine that is
 * resumed. */
static double jump; /* ticks, or 0 */
enum { GLIMPSE, SHORT_RUN, LONG_RUN, BOTH_RUNS, JUMPS };
static unsigned jump_in;

static void jump_before(uint64_t *stamp, int from, int n)
{
	on.ahead += jump / on.ticks;
	for (; from < n; from++)
		stamp[from] += (uint64_t)(int64_t)jump;
}

static void jumps_window(uint32_t turns, uint64_t stamp[3])
{
	multiplies_window(turns, stamp);
	if (jump_in & SHORT_RUN)
		jump_before(stamp, 1, 3);
	if (jump_in & LONG_RUN)
		jump_before(stamp, 2, 3);
	jump = jump_in == GLIMPSE ? jump : 0;
}

static void jumps_glimpse(uint32_t turns, uint64_t stamp[2])
{
	multiplies_glimpse(turns, stamp);
	if (jump_in != GLIMPSE)
		return;
	jump_before(stamp, 1, 2);
	jump = 0;
}

/* Their product with the ratio may not fit. */
static void jumping(void)
{
	static const struct cpuc_chain chain =
		CHAIN(jumps, 32 * 3, "jumping imul");
	static const char *const in[] = {"a glimpse", "a short run",
					 "a long run", "both runs of a window"};
	static const double by[] = {1e15, -1e9, 1e8, -1e4};
	uint64_t a, ratio;
	size_t i;

	for (i = 0; i < JUMPS * COUNT(by); i++) {
		settled(usual);
		cpuc_calibration.chain = &chain;
		count();
		ratio = cpuc_own_count.ratio.mean;
		calibrated_expire();
		jump = by[i / JUMPS];
		jump_in = i % JUMPS;
		/* A measurement after the glimpse would change the ratio. */
		if (jump_in == GLIMPSE)
			cpuc_own_count.ratio.measure_in = UINT32_MAX;
		a = count();
		ok(up && jump == 0 && cpuc_own_count.ratio.mean == ratio &&
			   count() - a < 1000,
		   "a clock that jumps by %g ticks in %s changes nothing",
		   by[i / JUMPS], in[jump_in]);
	}
}

/* A word that another copy of the library has armed is not armed again: that
 * copy must see that the kernel has cleared it. */
static void two_copies(void)
{
	static const uint64_t section[4] __attribute__((aligned(32)));
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
}

/* `times` a work of so many ns, counted in pieces, each followed by so many
 * away; how far the count is off the core's work for the thread. */
static const struct share {
	const char *name;
	double work, piece, away;
	bool waits;
} shares[] = {
	{"a thread that has half the CPU", 4e6, 2500, 4e6, false},
	{"one of ten threads", 3e6, 2500, 27e6, false},
	{"1000 sched_yield a second", 5e5, 2500, 5e5, false},
	{"sleeping 1 ms", 5e5, 2500, 1e6, true},
	{"sleeping 100 ms", 5e5, 2500, 1e8, true},
	{"1000 signals a second", 1e6, 2500, 0, false},
	{"waits of 50 us", 1e5, 1e5, 5e4, true},
	{"waits of 300 us, counts each 10 us", 1e5, 1e4, 3e5, true},
	{"questions of 100 us", 2e4, 2e4, 1e5, true},
	{"waits of 20 us", 3e4, 3e4, 2e4, true},
};

static double turns(int times, const struct share *s)
{
	double done = cycles, start;
	uint64_t a = count(), n;
	int i;

	measuring = 0;
	for (i = 0; i < times; i++) {
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
static void sharing(const void *row, enum kernel kernel)
{
	const struct share *s = row;
	const double lack = s->waits || s->away == 0 ? 0 : 8e3 / s->work;
	const double reads = s->away == 0 ? 0 : 1e3 / s->work;
	double e, most = 0.003 + lack + reads;

	if (kernel != REPORTS && s->away < 30e3 && s->away > 0)
		most = 0.001 + s->away / s->work;
	settled(with(kernel));
	/* These may be too high at first. */
	turns(100, s);
	e = turns((int)(2e9 / (s->work + s->away)), s);
	ok(up && e > -0.001 && e < most, "%s, %s: %.3f%% off", s->name,
	   kernel_name[kernel], e * 100);
}

/* Where they are reported, nothing is asked in calls that are 0.1 ms apart. */
static void rarely(void)
{
	double begin;

	settled(usual);
	for (begin = now; now - begin < 1e9;) {
		pass(1e5 * on.core);
		count();
	}
	ok(measuring < 1e9 / SHARE_STILL,
	   "counts each 0.1 ms take %.3f%% of the time", measuring / 1e7);
}

/* Whether waits are reported is learned from the first one that is not. */
static void learning(void)
{
	double first, second, most;
	uint64_t a;

	settled(usual);
	leave(1e6, false);
	run(1e6);
	leave(1e6, true);
	run(1e6);
	leave(0, false);
	host_pauses(1e6);
	run(10e6);
	ok(told, "waits that are reported, signals, and the host's pauses");
	settled(with(HIDES_WAITS));
	told = true;
	/* No measurement comes in between. */
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	run(10e6);
	a = count();
	leave(1e6, true);
	first = (double)(count() - a);
	a = count();
	leave(1e5, true);
	second = (double)(count() - a);
	/* That is what two readings of the thread's clock take, and a glimpse;
	 * two more that came before, in the guard. */
	most = 9e3 + (CPUC_GLIMPSE_GUARDED ? 3 : 1) *
			     cpuc_calibration.glimpse_cost * on.core / on.ticks;
	ok(!told && first < most && second < most,
	   "a wait of which the word does not tell counts %.0f cycles, the "
	   "next one %.0f",
	   first, second);
}

static void waits(void)
{
	uint64_t a, tick;
	unsigned changed;
	double n;
	int i, known = 0;

	ok(cpuc_count_alone(), "pauses are left out");
	settled(usual);
	a = count();
	host_pauses(1e6);
	n = (double)(count() - a);
	ok(n < 4.1e6, "a pause of the host counts no longer than it is: %.0f",
	   n);
	run(100e6);
	for (changed = 0, i = 0; i < 50000; i++) {
		tick = cpuc_own_count.opened;
		pass(80000);
		known += count() ==
			 cpuc_count_at(&cpuc_own_count,
				       count_seen(&cpuc_own_count, 0));
		changed += tick != cpuc_own_count.opened;
	}
	ok(known == i, "the latest count is known: %u of %d", known, i);
	ok(changed > 200 && changed < 1300,
	   "an interval begins %u times a second", changed);
	/* The thread's clock leaves out one percent, spent on interrupts. */
	for (i = 0; i < 1000; i++) {
		run(1e6);
		on.away += 1e4;
		if (i % 3 == 0)
			leave(0, false);
	}
	ok(up, "a thread's clock that leaves out interrupts: never back");
}

/* What the host took once is not taken for the host's for ever. */
static void forgotten(void)
{
	static const struct share waits_of_50 = {"", 1e5, 1e4, 5e4, true};
	double e;

	settled(with(HIDES_WAITS));
	host_pauses(2e6);
	run(150e6);
	e = turns(100, &waits_of_50);
	ok(e < 0.02 && e > -0.001,
	   "waits of 50 us, long after a pause of the host's: %.3f%% off",
	   e * 100);
}

/* Where nothing tells of switches, there may have been one. */
static void switches_unknown(void)
{
	struct machine m = with(NO_WORD);
	double n, most;
	uint64_t a;

	m.switches_unknown = true;
	settled(m);
	a = count();
	leave(1e6, true);
	n = (double)(count() - a);
	/* One more may hide between two counts, for a gap. */
	most = 2 * COUNT_GAP * on.core / on.ticks;
	ok(up && n < most,
	   "switches are unknown: a wait of 1 ms counts %.0f cycles", n);
}

/* A call in the midst of a thread's first one. */
static void first_in_midst(void)
{
	uint64_t a;

	settled(usual);
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
	cpuc_guard_inside = true;
	a = count();
	cpuc_guard_inside = false;
	highest = a;
	pass(20000);
	a = count() - a;
	ok(up && a >= 20000 && a < 24000,
	   "a call in the midst of a thread's first one: %.0f of 20000 cycles "
	   "later",
	   (double)a);
}

/* A virtual machine that goes on on another host: the ticks of its clock are
 * shorter than those to which the thread's clock is converted. */
static void moved_to_host(const void *row, enum kernel kernel)
{
	const double by = *(const double *)row;
	double done, least = 2;
	uint64_t a;
	int i;

	settled(with(kernel));
	on.ticks *= by;
	run(300e6);
	for (i = 0; i < 100; i++) {
		a = count();
		done = cycles;
		pass(4e6);
		leave(1e6, i % 2);
		pass(4e6);
		done = (double)(count() - a) / (cycles - done);
		least = done < least ? done : least;
	}
	ok(up && least > 0.98,
	   "ticks shorter by %g, %s: intervals of 2 ms count %.3f at least", by,
	   kernel_name[kernel], least);
}

/* A child goes on with its parent's count, but not with its switches, which
 * begin at 0 with its clock. */
static void forked(void)
{
	uint64_t a;
	double n;

	settled(with(HIDES_WAITS));
	for (int i = 0; i < 1000; i++)
		leave(1e5, true);
	run(10e6);
	cpuc_process->mark[cpuc_process_generation % CPUC_MARKS] = 0;
	waited = preempted = 0;
	on.away = now;
	calibrated_expire();
	a = count();
	leave(1e6, true);
	n = (double)(count() - a);
	ok(up && n < 8e3, "a wait of a child's counts %.0f cycles", n);
}

static void other_cpu(void)
{
	double t = 0, last;

	settled(with(HIDES_WAITS));
	for (int i = 0; i<5; i++, t = last> t ? last : t) {
		run(1e9);
		on.core = i % 2 ? 3.0 : 2.0;
		cpu++;
		leave(1e5, true);
		last = until_seen(1e4, 0.005);
	}
	ok(t < 2e5, "another CPU: its rate is seen after %.2f ms", t / 1e6);
}

/* Between cores whose clocks differ by so many ns; the thread's is one. */
static void clocks_differ(const void *row, enum kernel kernel)
{
	const double by = *(const double *)row;
	double done, own = 0;
	uint64_t a, sum = 0;
	int i, low = 0;

	settled(with(kernel));
	for (i = 0; i < 1000; i++) {
		a = count();
		done = cycles;
		pass(2e5);
		cpu++;
		on.ahead = i % 2 ? 0 : by;
		leave(5e4, kernel != REPORTS);
		pass(2e5);
		done = cycles - done;
		a = count() - a;
		low += (double)a < 0.99 * done;
		own += done;
		sum += a;
	}
	/* Of 100 us: 8 are granted, 3 the clocks may differ by unseen, and two
	 * readings of the thread's clock take 1.8. */
	ok(up && low == 0 && (double)sum < 1.128 * own,
	   "clocks %g s apart, %s: %d intervals too low, %.3f in all", by / 1e9,
	   kernel_name[kernel], low, (double)sum / own);
}

/* A thread that may run for 1 of 10 ms, or 2 of 100. */
static void throttled(void)
{
	static const struct share quota[] = {{"", 1e6, 2500, 9e6, false},
					     {"", 2e6, 2500, 98e6, false}};
	const struct share *s;
	double e;

	for (s = quota; s < quota + 2; s++) {
		settled(usual);
		e = turns(100, s);
		ok(measuring < 0.03 * 100 * s->work && e < 0.03 && e > -0.001,
		   "%g ms of %g: measures for %.2f%% of them, %.3f%% off",
		   s->work / 1e6, (s->work + s->away) / 1e6,
		   measuring / s->work, e * 100);
	}
}

static void robber(void)
{
	leave(50e6, false);
}

static void preempted_measuring(void)
{
	uint64_t a, n;

	settled(usual);
	a = count();
	calibrated_expire();
	hook = robber;
	count();
	hook = NULL;
	pass(4e5);
	n = count() - a;
	ok(n > 390000 && n < 450000,
	   "a preemption of 50 ms in a measurement: counts %.0f", (double)n);
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
static void disturbed_interval(const struct disturbance *s)
{
	int i;

	for (i = 0; i < 4; i++) {
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

static void disturbed(const void *row, enum kernel kernel)
{
	const struct disturbance *s = row;
	/* The first few, until what interrupts take is known. */
	const unsigned n = 100000, most = s->host ? n / s->others / 20 : 0;
	unsigned low = 0, i;
	double done, own = 0, lowest = 1, share;
	uint64_t a, sum = 0;

	settled(with(kernel));
	for (i = 0; i < n; i++) {
		a = count();
		done = cycles;
		disturbed_interval(s);
		done = cycles - done;
		a = count() - a;
		share = (double)a / done;
		low += share < 0.99;
		lowest = share < lowest ? share : lowest;
		own += done;
		sum += a;
	}
	ok(low <= most && up,
	   "%s, %s: %u of %u intervals of 20 us show less than the work, the "
	   "lowest %.3f of it; %.3f in all",
	   s->name, kernel_name[kernel], low, n, lowest, (double)sum / own);
}

static uint64_t inner[2];
static jmp_buf out;

static void handler(void)
{
	inner[0] = count();
	pass(20000);
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
		count();
		calibrated_expire();
		tick_hook = handler;
		tick_hook_at = 3;
		up &= count() <= inner[0];
		right &= distance((double)(inner[1] - inner[0]) - 20038) < 60;
		pass(90000);
		count();
	}
	ok(up && right, "handlers after measurements: never decreasing, and "
			"their work is counted");
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
	tick_hook = leaver;
	tick_hook_at = 3;
	if (!setjmp(out)) {
		count();
		up = 0;
	}
	on.core = 2.0;
	run(70e6);
	ok(up && off() < 0.005, "a handler that never returns: measures again");
}

/* A call stores the tick that it read before a handler interrupted it: so many
 * ticks before the interval that the handler has begun since. */
static void stored_late(void)
{
	static const uint32_t before[] = {1000, 0x70000000, 0x90000000,
					  0xf0000000};
	uint64_t a, n;
	size_t i;

	for (i = 0; i < sizeof before / sizeof *before; i++) {
		settled(usual);
		calibrated_expire();
		a = count();
		cpuc_own_count.last -= before[i];
		pass(20000);
		n = count() - a;
		ok(up && n > 20000 && n < 24000,
		   "a tick that is %u too old: counts %.0f of 20000", before[i],
		   (double)n);
	}
	/* What it may have had of a wait is in no later interval's pause. */
	settled(with(NO_WORD));
	calibrated_expire();
	count();
	cpuc_own_count.last -= 1000;
	leave(1e6, true);
	a = count();
	pass(8e6);
	n = count() - a;
	ok(up && n > 7990000, "a wait before that is known: counts %.0f of 8e6",
	   (double)n);
}

static void waiter(void)
{
	leave(1e6, true);
}

/* A wait between a glimpse and the tick at which the interval goes on is no
 * time for which the thread ran. */
static void waited_glimpsing(void)
{
	uint64_t a, n;

	settled(with(NO_WORD));
	calibrated_expire();
	count();
	pass(1e4);
	cpuc_own_count.due = 1;
	tick_hook = waiter;
	tick_hook_at = 3;
	a = count();
	pass(8e6);
	n = count() - a;
	ok(tick_hook == NULL && up && n > 7990000,
	   "a wait just after a glimpse: then counts %.0f of 8e6", (double)n);
}

/* A wait is not hidden by the time of the glimpses before it. */
static void glimpses_ran(void)
{
	double took;
	uint64_t a;
	int i;

	settled(usual);
	calibrated_expire();
	count();
	took = measuring;
	for (i = 0; i < 100; i++) {
		pass(1e3);
		cpuc_own_count.due = 1;
		count();
	}
	took = (measuring - took) * on.core;
	leave(1e6, true);
	a = cpuc_count_at(&cpuc_own_count, count_seen(&cpuc_own_count, 0));
	a = count() - a;
	/* In the guard an interval ends with each, and the clock is read. */
	if (CPUC_GLIMPSE_GUARDED)
		skip("a wait after glimpses: they are made in the guard");
	else
		ok((double)a < took / 4,
		   "a wait after glimpses of %.0f cycles counts %.0f", took,
		   (double)a);
}

/* One window at the ratio in use tells that it was the glimpse. But as the rate
 * may have moved by less than a step, a measurement comes soon. */
static void glimpse_disturbed(void)
{
	settled(usual);
	count();
	cpuc_own_count.ratio.glimpse += 10000;
	pass(1e3);
	cpuc_own_count.ratio.glimpse_in = 0;
	cpuc_own_count.ratio.measure_in = UINT32_MAX;
	cpuc_own_count.due = 1;
	windows = 0;
	count();
	ok(up && windows == 1, "a disturbed glimpse brings a window: %u",
	   windows);
	ok(cpuc_own_count.ratio.measure_in <=
		   cpuc_calibration.span * MEASUREMENT_LENGTH *
			   MEASUREMENT_MOVING,
	   "and a measurement soon");
}

static void preempted_handler(void)
{
	pass(4e5);
	leave(1e6, false);
	inner[0] = count();
}

/* What the thread ran in the interval before is in the thread's clock, but not
 * in what a handler between two intervals adds to it. */
static void between_intervals(void)
{
	uint64_t a;

	settled(usual);
	calibrated_expire();
	count();
	pass(4e5);
	calibrated_expire();
	tick_hook = preempted_handler;
	tick_hook_at = 3;
	a = count();
	/* 8 us are granted, and what two readings of the clock take. */
	ok(tick_hook == NULL && inner[0] - a > 390000 && inner[0] - a < 450000,
	   "a handler between two intervals, preempted: counts %.0f of 4e5",
	   (double)(inner[0] - a));
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
	tick_hook = tracer;
	tick_hook_at = 3;
	count();
	open_signals = false;
	interrupted = cpuc_own_count.interrupted;
	count();
	ok(tick_hook == NULL && cpuc_own_count.interrupted == interrupted,
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
	uint64_t a, n;
	size_t i;
	int right = 1;

	settled(usual);
	for (i = 0; i < sizeof to / sizeof *to; i++) {
		now = to[i] - 1e3;
		run(200e6);
		a = count();
		pass(4e6);
		n = count() - a;
		right &= distance((double)n / 4e6 - 1) < 0.002;
	}
	ok(up, "a clock that was somewhere else: never decreases");
	ok(right, "and then the count is right");
}

int main(void)
{
	static const double apart[] = {1.6e9, -1.6e9, 3e3};
	static const double faster[] = {1.05, 1.25};

	machine_prepare();
	delayed();
	stopping();
	jumping();
	two_copies();
	waits();
	ON_KERNELS(sharing, shares);
	rarely();
	learning();
	forgotten();
	switches_unknown();
	first_in_midst();
	ON_KERNELS(moved_to_host, faster);
	/* One machine in twelve forgot what its glimpses take. */
	for (seed = 1; seed <= 40; seed++)
		moved_to_host(&faster[1], REPORTS);
	seed = 0;
	forked();
	other_cpu();
	preempted_measuring();
	ON_KERNELS(disturbed, disturbances);
	ON_KERNELS(clocks_differ, apart);
	throttled();
	signals();
	stored_late();
	waited_glimpsing();
	glimpses_ran();
	glimpse_disturbed();
	between_intervals();
	traced();
	at_any_tick(false);
	at_any_tick(true);
	suspended();
	return done_testing();
}
