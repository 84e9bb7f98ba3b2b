/* SPDX-License-Identifier: 0BSD */
/* The calibrated count on a pretended machine: a clock of known step and a core
 * of known rate, so that every promise can be checked exactly. */
#include <config.h>
#include <errno.h>
#include <setjmp.h>
#include <stdbool.h>
#include <string.h>
/* The pretended kernel's word and the thread's clock, in place of rseq.c. */
#define cpuc_rseq_own fake_word
#define cpuc_rseq_cpu fake_cpu
#define cpuc_rseq_switches fake_switches
#define cpuc_rseq_tells_waits fake_tells
#define cpuc_rseq_missed_wait fake_missed
#define cpuc_os_clock_thread fake_thread
#include "../src/calibrated/count.c"
#include "forget.h"
#include "tap.h"
#include "thread/thread.h"

/* The machine. Time in ns, rates in cycles or ticks per ns. */
static double now, core, clock_rate, step;
static double drift, since;   /* relative change of the core's rate per ns */
static double turning, later; /* when the rate becomes another one, or 0 */
static double dither;         /* up and down by so much, every DITHER ns */
static double cycles;         /* that the core has done in all */
static double measuring;      /* ns inside the slow path */
static unsigned bad;          /* one of so many windows is interrupted */
static unsigned windows = 1;  /* state of the choice */
static int stopped;
static double odd[4];           /* of each chain: it takes so much longer */
static double multiply = 3;     /* cycles */
static double links = 32;       /* of a turn */
static double reading = 38;     /* cycles that the clock takes */
static double sibling = 1;      /* how much longer a cycle's link takes */
static double sibling_ends;     /* when it waits, or 0 */
static bool bursts;             /* of another hardware thread's work */
static bool longer;             /* one window in ten is, by 0.3% */
static double bubble;           /* cycles that a turn takes beyond its links */
static double jitter;           /* cycles by which a run may be off */
static bool strict;             /* no two reads of the clock are the same */
static void (*hook)(void);      /* called in a window */
static void (*tick_hook)(void); /* another, called at one of the next ticks */
static int tick_hook_at;        /* 1: before the next, 2: after it, 3: ... */
static bool open_signals;       /* they cannot be blocked */
static int tick_hook_again;     /* how much later another one comes, or 0 */
static unsigned changes;
static unsigned seed, seeds = 4;
static double ahead; /* ns: of another core's clock */
static double begun; /* ns: the time at which the machine began */
static uint64_t last_ratio;
static uint64_t highest; /* of all counts */
static int up; /* none was below one that had been given before it began */

#define DITHER 20000.

static void come_in(void)
{
	void (*h)(void) = tick_hook;

	/* Inside the guard it is pending. */
	if (h == NULL || --tick_hook_at > 0 ||
	    (cpuc_guard_inside && !open_signals))
		return;
	tick_hook = NULL;
	h();
}

static double rate(void)
{
	double r = core * (1 + drift * (now - since));

	if (dither > 0)
		r *= (long long)(now / DITHER) % 2 ? 1 + dither : 1 - dither;
	return r;
}

/* How long the rate stays as it is. */
static double until_change(void)
{
	double ns = 1e30;

	if (turning > now)
		ns = turning - now;
	if (dither > 0 &&
	    DITHER - now + DITHER * (double)(long long)(now / DITHER) < ns)
		ns = DITHER - now + DITHER * (double)(long long)(now / DITHER);
	return ns + 1e-3;
}

static void pass(double c)
{
	double ns, most;

	cycles += c;
	while (c > 0) {
		if (turning > 0 && now >= turning) {
			core = later;
			turning = 0;
		}
		most = until_change();
		ns = c / rate();
		if (ns > most) {
			c -= most * rate();
			now += most;
			continue;
		}
		now += ns;
		break;
	}
}

static uint64_t shown(void)
{
	static double at;

	if (!stopped)
		at = now;
	return (uint64_t)((double)(long long)(((at + ahead) * clock_rate +
					       1e9) /
					      step) *
			  step);
}

/* The kernel's word, the thread's CPU, and its clock, which stands still while
 * the thread is away; each reading takes 0.9 us. */
static struct cpuc_rseq_section sections[CPUC_RSEQ_SECTIONS];
static uintptr_t pretended_word;
static bool has_word = true;
static uint32_t cpu;
static double away;

cpuc_rseq_word *fake_word(void)
{
	return has_word ? &pretended_word : NULL;
}

uint32_t fake_cpu(void)
{
	return cpu;
}

static uint32_t waited, preempted;
static bool told = true; /* until a wait was missed */

bool fake_tells(void)
{
	return told;
}

void fake_missed(void)
{
	told = false;
}

bool fake_switches(struct cpuc_switches *n)
{
	*n = (struct cpuc_switches){waited, preempted};
	return true;
}

uint64_t fake_thread(uint64_t hz)
{
	pass(900 * rate());
	return (uint64_t)((now - away + 1e9) * (double)hz / 1e9);
}

/* A strict clock shows a tick more at a second read in one step; one read in 32
 * takes longer. */
static long long fake_tick(void)
{
	static unsigned reads;
	static long long last;
	long long tick;

	come_in();
	pass(strict && ++reads % 32 == 0 ? 2.5 * reading : reading);
	tick = (long long)shown();
	if (strict && tick - last <= 0 && last - tick < 10)
		tick = last + 1;
	last = tick;
	come_in();
	return tick;
}

/* Another hardware thread works for 0.3 ms, 500 times a second, and delays
 * every second piece of 0.7 us by up to 0.4 us: more often than was seen on a
 * Zen 4. */
static void delay(double begin)
{
	static double from, until;

	if (!bursts)
		return;
	if (until < now || from > now + 1e9) {
		from = until = now;
		while (until < now + 1e5) {
			windows = windows * 1664525u + 1013904223u;
			from = until + (windows >> 8) % 3000000;
			until = from + 3e5;
		}
	}
	for (; begin < now; begin += 700) {
		windows = windows * 1664525u + 1013904223u;
		if (begin > from && begin < until && windows >> 31)
			now += 80 + (windows >> 8) % 320;
	}
}

static double up_to_one(void)
{
	windows = windows * 1664525u + 1013904223u;
	return (double)(windows >> 8) / (1 << 24);
}

/* The window of a chain whose turn takes so many cycles, and 8 times as many in
 * the long run. */
static void window_of(double turn, uint32_t turns, uint64_t stamp[3])
{
	int i;
	void (*h)(void) = hook;
	double begin;

	if (longer && up_to_one() < 0.1)
		turn *= 1.003;
	for (i = 0; i < 3; i++) {
		begin = now;
		pass(40 + jitter * up_to_one() +
		     turn * (i == 0   ? 1
			     : i == 1 ? turns
				      : 8 * turns) +
		     bubble * (i == 0 ? 1 : turns));
		delay(begin);
		windows = windows * 1664525u + 1013904223u;
		if (i > 0 &&
		    (bad == 1 || (bad && (windows >> 16) % (2 * bad) == 0)))
			now += 1500 + (windows >> 8) % 20000;
		stamp[i] = shown();
	}
	if (h && turns > 1) {
		hook = NULL;
		h();
	}
}

static void multiplies(uint32_t turns, uint64_t stamp[3])
{
	window_of(32 * multiply, turns, stamp);
}

/* Chains of instructions that take a cycle. */
#define ONES(i)                                                        \
	static void ones_##i(uint32_t turns, uint64_t stamp[3])        \
	{                                                              \
		if (sibling_ends > 0 && now > sibling_ends)            \
			sibling = 1;                                   \
		window_of(links *sibling *(1 + odd[i]), turns, stamp); \
	}

ONES(0)
ONES(1)
ONES(2)
ONES(3)

static const struct cpuc_chain x86_chain[] = {{multiplies, 7 * 32 * 3, "imul"},
					      {ones_1, 7 * 32, "ror"},
					      {ones_2, 7 * 32, "xor"},
					      {ones_3, 7 * 32, "not"}};
static const struct cpuc_chain arm_chain[] = {{ones_0, 7 * 32, "eor"},
					      {ones_1, 7 * 32, "sub"},
					      {ones_2, 7 * 32, "eon"},
					      {ones_3, 7 * 32, "orn"}};
static const struct cpuc_chain riscv_chain[] = {{ones_0, 7 * 16, "xor"},
						{ones_1, 7 * 16, "add"},
						{ones_2, 7 * 16, "slt"},
						{ones_3, 7 * 16, "sltu"}};
static const struct cpuc_chain_ops riscv = {riscv_chain, 4, 0};
/* Most tests need no more than these. */
static const struct cpuc_chain_ops x86 = {x86_chain, 3, 400};
static const struct cpuc_chain_ops arm = {arm_chain, 2, 0};
static const struct cpuc_chain_ops x86_all = {x86_chain, 4, 400};
static const struct cpuc_chain_ops arm_all = {arm_chain, 4, 0};
static const struct cpuc_chain_ops *ops = &x86;
static struct cpuc_clock the_clock = {.tick = fake_tick};

static double distance(double a)
{
	return a < 0 ? -a : a;
}

static uint64_t count(void)
{
	double a = now + 38 / rate();
	uint64_t given = highest, n = cpuc_count(fake_tick);

	measuring += now - a;
	changes += cpuc_own_count.ratio.mean != last_ratio ? 1u : 0u;
	last_ratio = cpuc_own_count.ratio.mean;
	up &= n >= given;
	highest = n > highest ? n : highest;
	return n;
}

static struct cpuc_refusal refusal;

static int calibrate(double hz)
{
	the_clock.chains = ops;
	the_clock.hz = (uint64_t)(hz + .5);
	return cpuc_calibrate(&the_clock, &refusal);
}

static void forget(void)
{
	calibrated_forget();
	highest = 0;
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
}

static int open_machine(double ghz, double ticks, double by)
{
	forget();
	core = ghz;
	clock_rate = ticks;
	step = by;
	drift = away = since = dither = turning = ahead = 0;
	/* Machines of another seed begin elsewhere in everything. */
	now = begun = 1234567.8 * seed;
	windows = 1 + seed;
	bad = 0;
	bursts = strict = longer = false;
	bubble = jitter = 0;
	stopped = 0;
	hook = NULL;
	multiply = 3;
	links = ops == &riscv ? 16 : 32;
	sibling = 1;
	up = 1;
	return calibrate(ticks * 1e9);
}

static double truth(void)
{
	return core * (1 + drift * (now - since)) / clock_rate;
}

/* How far the ratio in use is off, relative. */
static double off(void)
{
	return distance(
		(double)cpuc_own_count.ratio.mean / 4294967296. / truth() - 1);
}

/* Timings of about 90000 cycles for `ns`; the largest error of the ratio. */
static double run(double ns)
{
	double end = now + ns, worst = 0;

	count();
	for (int i = 0; now < end; i++) {
		pass(90000 + i % 977);
		count();
		worst = off() > worst ? off() : worst;
	}
	return worst;
}

/* A machine as most are, in its second second. */
static void settled(void)
{
	open_machine(4.0, 2.596, 26);
	run(1e9);
}

static const struct steady {
	const char *name;
	const struct cpuc_chain_ops *ops;
	double ghz, ticks, step;
} machines[] = {
	{"x86", &x86, 4.0, 2.596, 26},
	{"x86, one tick", &x86, 3.1, 2.1, 1},
	{"arm64, 1 GHz", &arm, 2.6, 1.0, 1},
	{"arm64, 54 MHz", &arm, 1.5, 0.054, 1},
	{"arm64, 24 MHz", &arm, 3.2, 0.024, 1},
	{"riscv64, 24 MHz", &riscv, 1.6, 0.024, 1},
	{"riscv64, 10 MHz", &riscv, 1.0, 0.010, 1},
	{"riscv64, 4 MHz", &riscv, 1.5, 0.004, 1},
	{"riscv64, 1 MHz", &riscv, 1.2, 0.001, 1},
	{"riscv64, 1 MHz, 2 GHz", &riscv, 2.0, 0.001, 1},
};

static void steady(const struct steady *m)
{
	/* Or as long as so many windows, where the clock is coarse. */
	double most = 6 * 360 * m->step / m->ticks;
	/* cpucycles(7) promises that. */
	double share = m->ticks < 0.002 ? 0.01 : 0.0025;
	double begin, worst, counted, done;
	uint64_t a;
	int err;

	ops = m->ops;
	err = open_machine(m->ghz, m->ticks, m->step);
	ok(err == 0 && now - begun < (most > 200e3 ? most : 200e3),
	   "%s: calibrates in %.0f us", m->name, (now - begun) / 1e3);
	count();
	ok(off() < 0.004, "%s: the first call is %.3f%% off", m->name,
	   off() * 100);
	/* As windows scatter where the clock is fine; see steps_begin(). */
	jitter = m->step > 1 ? 0 : 10 * (m->ticks > 0.5);
	run(3e9);
	changes = 0;
	measuring = 0;
	begin = now;
	a = count();
	done = cycles;
	worst = run(5e9);
	counted = (double)(count() - a);
	done = cycles - done - measuring * core;
	/* The windows' resolution, and noise. */
	ok(up && worst < 0.0003 + 0.6 * cpuc_calibration.grain / (1 << 20),
	   "%s: never back, and the ratio is within %.4f%%", m->name,
	   worst * 100);
	ok(measuring < share * (now - begin), "%s: %.4f%% of the time", m->name,
	   measuring / (now - begin) * 100);
	ok(distance(counted / done - 1) < worst + 0.0003,
	   "%s: %.4f%% off in all, measurements not counted", m->name,
	   (counted / done - 1) * 100);
	ops = &x86;
}

static void not_counted(void)
{
	uint64_t a, b, most = 0, next = 0, usual;
	double spent;

	open_machine(4.0, 2.596, 26);
	count();
	a = count();
	usual = count() - a;
	for (int i = 0; i < 2000000; i++) {
		a = count();
		spent = measuring;
		b = count();
		if (measuring - spent < 500)
			continue;
		most = b - a > most ? b - a : most;
		a = count() - b;
		next = a > next ? a : next;
	}
	/* Two steps of the clock. */
	ok(most > 0 && most < usual + 80 && next < usual + 80,
	   "a measurement adds %u cycles to an interval, %u to the next; "
	   "others "
	   "are of %u",
	   (unsigned)most, (unsigned)next, (unsigned)usual);
}

/* A thread's first call measures, twice at most, but not that of the thread
 * that has just calibrated: it is a part of the process's first call. */
static void first_calls(void)
{
	double most, took[2];
	int i;

	open_machine(4.0, 2.596, 26);
	/* Both runs of a window, thrice as long. */
	most = 3 * 9 / 7. * cpuc_calibration.span / clock_rate;
	for (i = 0; i < 2; i++) {
		measuring = 0;
		count();
		took[i] = measuring;
		calibrated_forget();
		now += 1e6;
	}
	ok(took[0] < most / 2 && took[1] < 2.5 * most,
	   "a first call takes %.1f us, and of another thread %.1f",
	   took[0] / 1e3, took[1] / 1e3);
}

/* An interval of so many ns, right after the thread's first count; its error.
 */
static double first_interval(double ns)
{
	double done;
	uint64_t a = count();

	done = cycles;
	while (now - begun < ns)
		pass(1e4);
	a = count() - a;
	return (double)a / (cycles - done) - 1;
}

static void ramps(void)
{
	static const double ms[] = {3, 50, 1000};
	double e;

	for (int i = 0; i < 4; i++) {
		open_machine(0.8, 2.596, 26);
		turning = now + 1e6;
		later = 4.0;
		if (i == 3)
			break;
		e = first_interval(ms[i] * 1e6);
		ok(distance(e) < (i ? 0.02 : 0.1),
		   "from 0.8 to 4 GHz 1 ms after the first count: %g ms are "
		   "%.2f%% off",
		   ms[i], e * 100);
	}
	/* The same with many counts. */
	count();
	while (now - begun < 3e6) {
		pass(1e4);
		count();
	}
	/* Windows that are as uncertain as two steps of the clock. */
	ok(off() < 2. / 360,
	   "and the ratio is %.3f%% off after 3 ms of counting", off() * 100);
}

/* Counts, so many cycles apart, until the ratio is right; the time for it. */
static double until_seen(double apart, double right)
{
	double begin = now;

	while (now < begin + 200e6 && off() > right) {
		pass(apart);
		count();
	}
	return now - begin;
}

/* Where windows are long, a measurement comes once a second at least. */
static void rarest(void)
{
	double end, before, last, most = 0;

	ops = &riscv;
	open_machine(1.2, 0.001, 1);
	run(10e9);
	last = now;
	for (end = now + 10e9; now < end;) {
		pass(1e6);
		before = measuring;
		count();
		if (measuring - before < 1e6)
			continue;
		most = now - last > most ? now - last : most;
		last = now;
	}
	ok(most > 0 && most < 1.01e9,
	   "a clock of 1 MHz: %.2f s from a measurement to the next",
	   most / 1e9);
	ops = &x86;
}

/* To a core of another rate and back, and the error of the count from then on.
 */
static const struct move {
	const char *name;
	const struct cpuc_chain_ops *ops;
	double ticks, step;    /* of the clock */
	double core[2];        /* GHz */
	double multiplying[2]; /* cycles of a multiplication */
} rows_of_moves[] = {
	{"P to E core", &x86, 2.596, 26, {5.2, 3.9}, {3, 3}},
	{"half the rate", &x86, 2.596, 26, {4.0, 2.0}, {3, 3}},
	{"multiply of 5 cycles, not 2", &arm, 0.024, 1, {3.0, 2.0}, {2, 5}},
	{"the same, clock of 1 GHz", &arm, 1, 1, {3.0, 2.0}, {2, 5}},
};

static void cores(const struct move *m)
{
	double t, seen = 0, worst = 0, done;
	uint64_t a;

	ops = m->ops;
	open_machine(m->core[0], m->ticks, m->step);
	multiply = m->multiplying[0];
	run(1e9);
	for (int i = 0; i < 6; i++) {
		core = m->core[(i + 1) % 2];
		multiply = m->multiplying[(i + 1) % 2];
		t = until_seen(1e5, 0.01);
		seen = t > seen ? t : seen;
		run(5e6);
		a = count();
		done = cycles;
		measuring = 0;
		run(30e6 + i * 1e5);
		t = (double)(count() - a) / (cycles - done - measuring * core) -
		    1;
		worst = distance(t) > worst ? distance(t) : worst;
	}
	ok(seen < 100e6, "%s and back: seen after %.1f ms", m->name,
	   seen / 1e6);
	ok(worst < 0.01 && up, "%s: %.3f%% off afterwards", m->name,
	   worst * 100);
	ops = &x86;
}

/* Looks on a slower core: short runs take longer there, and are no steps. */
static void slower(void)
{
	double begin;

	settled();
	core = 1.5;
	run(2e9);
	measuring = 0;
	begin = now;
	run(2e9);
	ok(measuring < 0.01 * (now - begin),
	   "a slower core: %.4f%% of the time",
	   measuring / (now - begin) * 100);
}

/* A pause in which the core has changed. */
static void pauses(void)
{
	uint64_t a;

	settled();
	a = count();
	core = 2.0;
	pass(2e9);
	a = count() - a;
	ok((double)a > 1.99e9 && (double)a < 2.2e9,
	   "a second on another core counts %.4g of 2e9", (double)a);
	pass(1e4);
	core = 4.0;
	pass(4e6);
	count();
	pass(4e6);
	count();
	ok(off() < 0.003, "and a change soon after that is seen in 2 ms");
}

static void dithering(void)
{
	double worst = 0, done;
	uint64_t a;
	int n = 0;

	open_machine(4.0, 2.596, 26);
	dither = 0.002; /* from one rate to the other it is no step */
	run(1e9);
	for (int i = 0; i < 200; i++) {
		a = count();
		done = cycles;
		measuring = 0;
		run(5e6);
		done = (double)(count() - a) /
			       (cycles - done - measuring * 4.0) -
		       1;
		worst = distance(done) > worst ? distance(done) : worst;
		n += distance(done) > 0.002;
	}
	ok(up && worst < 0.003 && n < 10,
	   "a dither of 0.4%% at 20 us: 5 ms are %.3f%% off at worst, %d of "
	   "200 "
	   "by "
	   "more than 0.2%%",
	   worst * 100, n);
}

static void wander(void)
{
	double worst;

	settled();
	drift = 0.3e-9;
	since = now;
	worst = run(200e6);
	/* The least change that passes for a step, beyond this noise, and the
	 * drift until it is seen. */
	ok(worst < 0.016, "30%% a second: within %.3f%%", worst * 100);
	core *= 1 + drift * (now - since);
	drift = 0.02e-9;
	since = now;
	run(200e6);
	worst = run(2e9);
	ok(worst < 0.005, "2%% a second: within %.3f%%", worst * 100);
	ok(up, "2%% a second: never decreases");
}

static void interrupted(void)
{
	double worst, begin;

	open_machine(4.0, 2.596, 26);
	forget();
	bad = 3;
	ok(!calibrate(2596e6), "calibrates with one bad window in three");
	count();
	worst = run(2e9);
	/* What passes for no step, and what a measurement may be off. */
	ok(worst < 0.005 + cpuc_calibration.grain / 1048576. / 3 && up,
	   "one bad window in three: within %.3f%%", worst * 100);
	bad = 10;
	worst = run(2e9);
	ok(worst < 0.002 && up, "one in ten: within %.3f%%", worst * 100);
	bad = 1;
	core = 3.9;
	worst = run(100e6);
	ok(worst < 0.03, "every window bad: the old ratio, %.3f%% off",
	   worst * 100);
	/* Looks take half of the time, as each is three bad windows. */
	pass(4e8);
	measuring = 0;
	begin = now;
	run(200e6);
	ok(measuring < 0.6 * (now - begin),
	   "after a pause, in %.1f%% of the time",
	   measuring / (now - begin) * 100);
	bad = 0;
	run(50e6);
	ok(off() < 0.01 && up, "and the new one after that, %.3f%% off",
	   off() * 100);
}

/* Its bursts are no steps, and hardly take windows. */
static void busy_sibling(void)
{
	double sum = 0, begin;
	int i;

	settled();
	bursts = true;
	run(500e6);
	measuring = 0;
	begin = now;
	for (i = 0; i < 100000; i++) {
		pass(90000 + i % 977);
		count();
		sum += off();
	}
	ok(up && sum / i < 0.0005, "a busy sibling: %.3f%% off on average",
	   sum / i * 100);
	ok(measuring < 0.004 * (now - begin), "in %.2f%% of the time",
	   measuring / (now - begin) * 100);
	bursts = false;
}

/* A Zen 4 core that drops by 25 MHz for some ms and comes back, 60 times a
 * second in all: each level is known well when it comes again. */
static void two_levels(void)
{
	static const double level[] = {3.694, 3.669};
	double sum = 0, end = 0;
	unsigned draw = seed, at = 0;
	int i;

	open_machine(level[0], 2.596, 26);
	run(500e6);
	for (i = 0; i < 200000; i++) {
		if (now > end) {
			core = level[++at % 2];
			draw = draw * 1664525u + 1013904223u;
			end = now + (at % 2 ? 5e6 : 20e6) *
					    (0.3 + (draw >> 8) / 16777216.);
		}
		pass(30000);
		count();
		sum += off();
	}
	ok(up && sum / i < 0.0015, "two levels: %.3f%% off on average",
	   sum / i * 100);
}

/* A Zen 4 core, whose clock is coarse, that steps by so much and stays for
 * 0.3 s; how many of 40 times the ratio has not gone half the way in 50 ms, and
 * how far it is off on average from then on. */
static double noisy;

static int small_steps(double by, double *mean)
{
	double sum = 0, end, after;
	int i, n = 0, late = 0;

	open_machine(3.7, 2.596, 26);
	jitter = noisy;
	run(1e9);
	for (i = 0; i < 40; i++) {
		core = i % 2 ? 3.7 : 3.7 * (1 + by);
		end = now + 300e6 + 1e3 * i;
		for (after = now + 50e6; now < after;) {
			pass(90000 + i);
			count();
		}
		late += off() > by / 2;
		for (; now < end; n++) {
			pass(90000 + i);
			count();
			sum += off();
		}
	}
	*mean = sum / n;
	return late;
}

static void follows(void)
{
	double mean;
	int late = small_steps(0.0015, &mean);

	ok(up && late <= 4 && mean < 0.0005,
	   "steps of 0.15%%: after 50 ms %d of 40 are not followed, and the "
	   "ratio is %.4f%% off on average",
	   late, mean * 100);
	small_steps(0.0007, &mean);
	ok(up && mean < 0.00035, "of 0.07%%: %.4f%% off on average",
	   mean * 100);
	noisy = 50;
	small_steps(0.001, &mean);
	ok(up && mean < 0.001 / 3,
	   "of 0.1%%, where windows scatter by as much: %.4f%% off on average",
	   mean * 100);
	noisy = 0;
}

/* Threads that have counted for 20 ms have measured often enough for half of
 * what one measurement is off, which is up to a step of the clock. */
static void young(void)
{
	double sum = 0;
	int i;

	for (i = 0; i < 100; i++) {
		open_machine(3.7, 2.596, 26);
		windows += 100 * (unsigned)i;
		now += 1e6 * up_to_one();
		run(20e6);
		sum += off();
	}
	ok(sum / i < cpuc_calibration.grain / 1048576. / 3 * 7 / 9 / 2,
	   "after 20 ms the ratio is %.4f%% off on average", sum / i * 100);
}

/* A Zen 4's windows beside other work. */
static void longer_windows(void)
{
	double end;
	int i, n = 0;

	settled();
	longer = true;
	run(1e9);
	for (i = 0, end = now + 10e9; now < end; i++) {
		pass(90000 + i % 977);
		count();
		n += off() > 0.001;
	}
	ok(up && n < 0.05 * i,
	   "one window in ten is 0.3%% longer: %.1f%% of the time the ratio "
	   "is 0.1%% off",
	   n * 100. / i);
}

/* What windows take beyond their links is known, but wrong. */
static void wrong_overhead(void)
{
	settled();
	cpuc_own_count.ratio.measuring.cycles *= 100;
	cpuc_own_count.ratio.looking.cycles *= 100;
	run(500e6);
	ok(up && off() < 0.001, "a wrong overhead is learned anew: %.3f%% off",
	   off() * 100);
}

/* Looks take 1/1600 of the time. */
static void rested(void)
{
	double t, most = 0;
	int i;

	open_machine(4.0, 2.6, 1);
	for (i = 0; i < 10; i++) {
		run(1e9);
		core = i % 2 ? 4.0 : 3.9;
		t = until_seen(2e4, 0.005);
		most = t > most ? t : most;
	}
	ok(most < 1600 * cpuc_calibration.look_cost / 2.6 + 1e4,
	   "a step of 2.5%% after a second is seen in %.2f ms", most / 1e6);
}

/* A thread that moves to an in-order core, on which a turn of the chain takes
 * two cycles more, of 128. */
static void in_order(void)
{
	ops = &arm;
	open_machine(2.0, 0.024, 1);
	run(1e9);
	cpu++;
	bubble = 0.5;
	run(500e6);
	ok(up && off() < 0.001,
	   "0.5 s after a move to an in-order core of the same rate: %.3f%% "
	   "off",
	   off() * 100);
	ops = &x86;
}

/* Windows that are too short, because the one that showed their length was
 * interrupted, would stay so for the life of the process. */
static void interrupted_trial(void)
{
	int refused = 0, i;
	double worst = 0;

	for (i = 0; i < 500; i++) {
		open_machine(4.0, 2.596, 26);
		forget();
		windows = (unsigned)i;
		bad = 3;
		refused += calibrate(2596e6) != 0;
		bad = 0;
		count();
		run(50e6);
		worst = off() > worst ? off() : worst;
	}
	ok(refused == 0 && worst < 0.005,
	   "500 machines calibrate with one bad window in three: then within "
	   "%.3f%%",
	   worst * 100);
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
	uint64_t a, b;

	/* Fewer cycles than ticks. */
	open_machine(2.0, 2.596, 26);
	run(1e9);
	a = count();
	calibrated_expire();
	tick_hook = slow_handler;
	tick_hook_at = 3;
	b = count();
	ok(b - a < 1000 && tick_hook == NULL,
	   "a handler after a measurement is not in its count: %.4g",
	   (double)(b - a));
	b = count();
	/* The core was 4 GHz for 1e8 ns, by a ratio that is nearly right. */
	ok(distance((double)(b - a) / 401e6 - 1) < 0.001,
	   "and counts once in the next: %.4g", (double)(b - a));
}

static void thief(void)
{
	now += 50e6;
}

/* Another process has the CPU in the middle of a measurement. */
static void stolen(void)
{
	double t;

	settled();
	calibrated_expire();
	hook = thief;
	count();
	ok(off() < 0.002, "50 ms stolen: the ratio is %.3f%% off", off() * 100);
	core = 3.0;
	t = until_seen(1e5, 0.005);
	ok(t < 30e6, "and a change is seen %.1f ms later", t / 1e6);
	core = 30;
	run(50e6);
	ok((double)cpuc_own_count.ratio.mean / 4294967296. * 2.596 < 10,
	   "a rate of 30 GHz is not believed");
}

static uint64_t behind;

static long long tick_behind(void)
{
	return (long long)behind;
}

/* A thread that moves to a core whose clock is behind that of the latest count,
 * but not behind the last measurement: with a word, and without. */
static void step_behind(bool word)
{
	const bool before = has_word;
	uint64_t a = 0, b;
	int i;

	has_word = word;
	calibrated_forget();
	highest = 0;
	count();
	for (i = 0; i < 1000 && cpuc_own_count.seen < 2000; i++) {
		pass(3000);
		a = count();
	}
	behind = cpuc_own_count.tick + cpuc_own_count.seen - 1000;
	b = cpuc_count(tick_behind);
	ok(i < 1000 && b >= a && b - a < 100000,
	   "nor one behind the latest count%s", word ? "" : ", without a word");
	has_word = before;
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

static void stopping(void)
{
	uint64_t a, b, ratio;

	settled();
	count();
	ratio = cpuc_own_count.ratio.mean;
	stopped = 1;
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
	stopped = 0;
	step_behind(true);
	step_behind(false);
	run(50e6);
	ok(off() < 0.002 && up, "and it goes on");
}

/* Machines on which calibration must fail; by how many permille two chains
 * disagree. */
static const struct refused {
	const char *what;
	const struct cpuc_chain_ops *ops;
	double ghz, odd[4];
	int err;
	unsigned least, most;
	const char *chain[2];
} refused[] = {
	{"two chains are longer",
	 &arm_all,
	 4.0,
	 {0, 0, .08, .1},
	 -EDOM,
	 60,
	 110,
	 {"eor", "orn"}},
	{"two are too quick",
	 &x86_all,
	 4.0,
	 {0, -.1, 0, -.2},
	 -EDOM,
	 150,
	 250,
	 {"imul", "not"}},
	{"two take half as long again",
	 &x86_all,
	 4.0,
	 {0, 0, .45, .5},
	 -EDOM,
	 401,
	 510,
	 {"imul", "not"}},
	{"two are twice as long, as in QEMU",
	 &arm_all,
	 4.0,
	 {0, 0, 1, 1.1},
	 -EDOM,
	 950,
	 1110,
	 {"eor", "orn"}},
	{"50 MHz", &x86_all, 0.05, {0}, -ERANGE, 0, 0, {0}},
	{"14 GHz", &x86_all, 14, {0}, -ERANGE, 0, 0, {0}},
};

static bool same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void refuse(const struct refused *r)
{
	int err;

	ops = r->ops;
	memcpy(odd, r->odd, sizeof odd);
	err = open_machine(r->ghz, 2.596, 26);
	ok(err == r->err && refusal.permille >= r->least &&
		   refusal.permille <= r->most &&
		   (r->most == 0 || (same(refusal.chain[0], r->chain[0]) &&
				     same(refusal.chain[1], r->chain[1]))),
	   "refuses: %s: %s, %s and %s by %u.%u%%", r->what, refusal.why,
	   r->most > 0 ? refusal.chain[0] : "none",
	   r->most > 0 ? refusal.chain[1] : "none", refusal.permille / 10,
	   refusal.permille % 10);
	memset(odd, 0, sizeof odd);
}

static const char *distrust(void)
{
	return "not to be trusted";
}

static void refusals(void)
{
	size_t i;
	int err;

	for (i = 0; i < sizeof refused / sizeof *refused; i++)
		refuse(&refused[i]);
	ops = &x86;
	open_machine(4.0, 2.596, 26);
	forget();
	stopped = 1;
	err = calibrate(2596e6);
	ok(err == -EAGAIN, "refuses a clock that stands still: %s",
	   refusal.why);
	stopped = 0;
	bad = 1;
	now = 0;
	err = calibrate(2596e6);
	ok(err != 0 && now < 20e6,
	   "refuses when every window is interrupted, after %.1f ms: %s",
	   now / 1e6, refusal.why);
	bad = 0;
	the_clock.tried = false;
	the_clock.distrusted = distrust;
	err = calibrate(2596e6);
	ok(err == -ENOTSUP && refusal.why == distrust() && the_clock.tried,
	   "refuses chains that are %s, and says that it tried", refusal.why);
	the_clock.distrusted = NULL;
}

/* An SMT sibling has taken cycles of the chains of one cycle for so long, when
 * the process calibrates. */
static int calibrate_beside(double much)
{
	forget();
	sibling = much;
	return calibrate(2596e6);
}

static void siblings(void)
{
	double much;
	int wrong = 0;

	open_machine(4.0, 2.596, 26);
	for (much = 1; much < 1.35; much += 0.01)
		wrong += calibrate_beside(much) != 0 ||
			 distance(cpuc_calibration_ratio() / truth() - 1) >
				 0.004;
	ok(wrong == 0, "a sibling that takes a quarter of the cycles changes "
		       "nothing");
	open_machine(4.0, 2.596, 26);
	bad = 2;
	for (wrong = 0; windows % 1000 < 990; now += 1e4)
		wrong += calibrate_beside(1.1) != 0;
	ok(wrong == 0, "nor do interrupts in half of all windows");
	sibling = 1;
}

/* CPUs that take another time for one instruction, and how long calibration may
 * take. */
static const struct odd_one {
	const char *what;
	const struct cpuc_chain_ops *ops;
	double multiply, odd[4], ms;
} odd_ones[] = {
	{"imul of 4 cycles, as Bulldozer", &x86_all, 4, {0}, 0.3},
	{"of 5, as Bonnell", &x86_all, 5, {0}, 0.3},
	{"of 2, as Zhaoxin", &x86_all, 2, {0}, 3},
	{"ror of 2", &x86_all, 3, {0, 1, 0, 0}, 0.3},
	{"xor of half a cycle", &x86_all, 3, {0, 0, -.5, 0}, 0.3},
	{"eor of 2", &arm_all, 3, {1, 0, 0, 0}, 0.3},
	{"sub of 2", &arm_all, 3, {0, 1, 0, 0}, 0.3},
	{"orn of 2", &arm_all, 3, {0, 0, 0, 1}, 0.3},
};

/* The chains that agree decide. */
static void one_is_odd(const struct odd_one *o)
{
	double ms;
	int err;

	open_machine(3.0, 2.596, 26);
	forget();
	ops = o->ops;
	multiply = o->multiply;
	memcpy(odd, o->odd, sizeof odd);
	ms = -now;
	err = calibrate(2596e6);
	ms = (now + ms) / 1e6;
	ok(err == 0 && ms < o->ms, "%s: calibrates in %.2f ms", o->what, ms);
	count();
	run(50e6);
	ok(off() < 0.003 && up, "%s: %.3f%% off", o->what, off() * 100);
	memset(odd, 0, sizeof odd);
	ops = &x86;
}

/* If a sibling delays all chains but the first, the others agree on what is too
 * low. */
static void heavy_sibling(void)
{
	open_machine(4.0, 2.596, 26);
	forget();
	ops = &x86_all;
	sibling = 1.5;
	sibling_ends = now + 0.6e6;
	ok(calibrate(2596e6) == 0 &&
		   distance(cpuc_calibration_ratio() / truth() - 1) < 0.004,
	   "a sibling that takes a third of the cycles for 0.6 ms is waited "
	   "for");
	sibling_ends = 0;
	sibling = 1;
	ops = &x86;
}

static void agreement(void)
{
	uint64_t v[] = {100, 1000, 1004, 996, 9000};

	ok(cpuc_middle(v, 5, 3, CPUC_PERMILLE(10)) == 1000,
	   "those that are off do not count");
	ok(cpuc_middle(v, 5, 4, CPUC_PERMILLE(10)) == 0,
	   "there may be too few that agree");
}

/* Clocks that advance by so many ns at once: a short window's two runs may end
 * in one step. */
static void coarse(void)
{
	double by, worst = 0, off_by;
	int wrong = 0;

	ops = &arm;
	for (by = 50; by < 400; by += 1) {
		wrong += open_machine(2.9, 1.0, by) != 0;
		off_by = distance(cpuc_calibration_ratio() / truth() - 1);
		worst = off_by > worst ? off_by : worst;
	}
	ops = &x86;
	ok(wrong == 0 && worst < 0.01,
	   "clocks of 50 to 400 ns a step: calibrates within %.2f%%",
	   worst * 100);
}

/* The TSC of AMD's Zen: its steps are seen for what they are, and looks last
 * for enough of them. */
static void zen(void)
{
	static const double steps[] = {26, 24.45};
	uint64_t grain;
	double ticks;
	size_t i;

	/* A read takes about a step. */
	reading = 36;
	for (i = 0; i < sizeof steps / sizeof *steps; i++) {
		open_machine(3.7, 2.596, steps[i]);
		strict = true;
		grain = cpuc_clock_grain(&the_clock);
		ok(distance((double)grain / steps[i] - 1) < 0.1,
		   "a clock of %g ticks a step: %u", steps[i], (unsigned)grain);
		forget();
		ok(calibrate(2596e6) == 0, "calibrates");
		ticks = cpuc_calibration.look_turns * 7 * 32 * 3 * 2.596 / 3.7;
		ok(ticks > 60 * steps[i] && ticks < 120 * steps[i],
		   "a look takes %.0f steps", ticks / steps[i]);
	}
	open_machine(4.0, 2.596, 1);
	strict = true;
	grain = cpuc_clock_grain(&the_clock);
	ok(grain < 5, "one of a tick: %u", (unsigned)grain);
	reading = 38;
}

/* A window of which only a tick is left shows any ratio. */
static void deviations(void)
{
	const uint64_t one = UINT64_C(1) << CPUC_RATIO_BITS;
	uint64_t b;
	int wrong = 0;

	for (b = one / 4; b != 0; b *= 2) {
		wrong += cpuc_apart(b, b) != 0;
		wrong += cpuc_apart(0, b) != 1 << 20;
		wrong += cpuc_apart(b / 2, b) != 1 << 19;
		wrong += cpuc_apart(b - b / 128, b) != 1 << 13;
		wrong += cpuc_apart(b + b / 128, b) != 1 << 13;
		wrong += cpuc_apart(UINT64_MAX, b / 2) != 1 << 20;
	}
	ok(wrong == 0, "deviations are right for ratios up to 2^63");
}

/* Another thread has the CPU for so many ns, or this one waits, in a system
 * call. The word tells of it, but for a wait where the kernel does not. */
static bool waits_itself, hidden;

static void preempt(double ns)
{
	now += ns;
	away += ns;
	if (ns > 0)
		++*(waits_itself ? &waited : &preempted);
	if (!(hidden && waits_itself))
		pretended_word = 0;
}

/* `times` a work of so many ns, counted in pieces, each followed by so many
 * away; how far the count is off the core's work for the thread. */
static double turns(int times, double work, double piece, double gone)
{
	double done = cycles, start;
	uint64_t a = count(), n;
	int i;

	measuring = 0;
	for (i = 0; i < times; i++) {
		start = now;
		while (now - start < work) {
			pass(piece * core);
			count();
		}
		preempt(gone);
	}
	n = count();
	done = cycles - done - measuring * core;
	return (double)(n - a) / done - 1;
}

/* Work, pieces of it, and time away, in ns. */
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

/* On a kernel that reports waits, on one that does not, and without a word: but
 * for the shortest ones, no wait is counted; of a preemption, what the thread's
 * clock may lack. */
static void sharing(const struct share *s, const char *where, bool all)
{
	const double lack = s->waits || s->away == 0 ? 0 : 8e3 / s->work;
	const double reads = s->away == 0 ? 0 : 1e3 / s->work;
	double e;

	told = has_word && !hidden;
	settled();
	waits_itself = s->waits;
	/* These may be too high at first. */
	turns(100, s->work, s->piece, s->away);
	e = turns((int)(4e9 / (s->work + s->away)), s->work, s->piece, s->away);
	if (!all && s->away < 30e3 && s->away > 0)
		ok(up && e > -0.001 && e < 0.001 + s->away / s->work,
		   "%s, %s: %.3f%% too high", s->name, where, e * 100);
	else
		ok(up && e > -0.001 && e < 0.003 + lack + reads,
		   "%s, %s: %.3f%% off", s->name, where, e * 100);
	waits_itself = false;
}

static void shares_of_kernels(void)
{
	size_t i;

	for (i = 0; i < sizeof shares / sizeof *shares; i++) {
		hidden = false;
		has_word = true;
		sharing(&shares[i], "reported", true);
		hidden = true;
		sharing(&shares[i], "waits not reported", false);
		has_word = false;
		sharing(&shares[i], "no word", false);
	}
	hidden = false;
	has_word = told = true;
}

static void host_pauses(double ns)
{
	now += ns;
	away += ns;
}

/* Whether waits are reported is learned from the first one that is not. */
static void learning(void)
{
	double first, second;
	uint64_t a;

	settled();
	told = true;
	preempt(1e6);
	run(1e6);
	waits_itself = true;
	preempt(1e6);
	run(1e6);
	preempt(0);
	host_pauses(1e6);
	run(10e6);
	ok(told, "waits that are reported, signals, and the host's pauses");
	settled();
	hidden = true;
	/* No look comes in between. */
	cpuc_own_count.ratio.until = cpuc_own_count.ratio.left = UINT32_MAX;
	run(10e6);
	a = count();
	preempt(1e6);
	first = (double)(count() - a);
	a = count();
	preempt(1e5);
	second = (double)(count() - a);
	/* That is what two readings of the thread's clock take. */
	ok(!told && first < 8e3 && second < 8e3,
	   "a wait of which the word does not tell counts %.0f cycles, the "
	   "next one %.0f",
	   first, second);
	hidden = waits_itself = false;
	told = true;
}

static void waits(void)
{
	uint64_t a, tick;
	unsigned changed;
	double n;
	int i, known = 0;

	settled();
	a = count();
	host_pauses(1e6);
	n = (double)(count() - a);
	ok(n < 4.1e6, "a pause of the host counts no longer than it is: %.0f",
	   n);
	run(100e6);
	for (changed = 0, i = 0; i < 50000; i++) {
		tick = cpuc_own_count.tick;
		pass(80000);
		known += count() ==
			 cpuc_count_at(&cpuc_own_count, cpuc_own_count.seen);
		changed += tick != cpuc_own_count.tick;
	}
	ok(known == i, "the latest count is known: %u of %d", known, i);
	ok(changed > 400 && changed < 1300,
	   "an interval begins %u times a second", changed);
	/* The thread's clock leaves out one percent, spent on interrupts. */
	for (i = 0; i < 1000; i++) {
		run(1e6);
		away += 1e4;
		if (i % 3 == 0)
			preempt(0);
	}
	ok(up, "a thread's clock that leaves out interrupts: never back");
}

static void other_cpu(void)
{
	double t;

	told = false;
	settled();
	core = 2.0;
	cpu++;
	hidden = waits_itself = true;
	preempt(1e5);
	hidden = waits_itself = false;
	told = true;
	t = until_seen(1e4, 0.005);
	ok(t < 1e6, "another CPU: its rate is seen after %.2f ms", t / 1e6);
}

/* Between cores whose clocks differ by so many ns; the thread's is one. */
static void clocks_differ(double by, bool waits, const char *where)
{
	double done, own = 0;
	uint64_t a, sum = 0;
	int i, low = 0;

	told = has_word && !hidden;
	settled();
	waits_itself = waits;
	for (i = 0; i < 1000; i++) {
		a = count();
		done = cycles;
		pass(2e5);
		cpu++;
		ahead = i % 2 ? 0 : by;
		preempt(5e4);
		pass(2e5);
		done = cycles - done;
		a = count() - a;
		low += (double)a < 0.99 * done;
		own += done;
		sum += a;
	}
	waits_itself = false;
	ok(up && low == 0 && (double)sum < 1.1 * own,
	   "clocks %g s apart, %s: %d intervals too low, %.3f in all", by / 1e9,
	   where, low, (double)sum / own);
}

static void clocks_apart(void)
{
	static const double by[] = {1.6e9, -1.6e9, 3e3};
	size_t i;

	for (i = 0; i < sizeof by / sizeof *by; i++) {
		clocks_differ(by[i], false, "others take the CPU");
		hidden = true;
		clocks_differ(by[i], true, "waits are not reported");
		has_word = false;
		clocks_differ(by[i], true, "no word");
		has_word = true;
		hidden = false;
	}
	told = true;
}

/* A thread that may run for 1 of 10 ms, or 2 of 100. */
static void throttled(void)
{
	static const double ran[] = {1e6, 2e6}, gone[] = {9e6, 98e6};
	double e;
	int i;

	for (i = 0; i < 2; i++) {
		settled();
		e = turns(100, ran[i], 2500, gone[i]);
		ok(measuring < 0.03 * 100 * ran[i] && e < 0.03 && e > -0.001,
		   "%g ms of %g: measures for %.2f%% of them, %.3f%% off",
		   ran[i] / 1e6, (ran[i] + gone[i]) / 1e6, measuring / ran[i],
		   e * 100);
	}
}

/* Without reports of waits, the clock is read at each call that comes 100 us
 * after the latest one. */
static void calls_with_gaps(void)
{
	double begin;
	int i;

	told = false;
	settled();
	measuring = 0;
	begin = now;
	for (i = 0; i < 10000; i++) {
		pass(1e5 * core);
		count();
	}
	ok(measuring < 0.015 * (now - begin) &&
		   measuring > 0.009 * (now - begin),
	   "a call each 100 us: %.2f%% of the time",
	   measuring / (now - begin) * 100);
	told = true;
}

static void robber(void)
{
	preempt(50e6);
}

/* In each window of a measurement. */
static void preempted_measuring(void)
{
	uint64_t a, n;

	settled();
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

static double up_to(double most)
{
	return up_to_one() * most;
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

/* The work of an interval in four pieces, with disturbances between them.
 * Whoever takes the CPU has the thread's clock lack up to 8 us of what the
 * thread ran. */
static void disturbed_interval(const struct disturbance *s)
{
	int i;

	for (i = 0; i < 4; i++) {
		pass(5e3 * core);
		if (s->host && (unsigned)up_to(4 * s->host) == 0)
			host_pauses(up_to(s->host_most));
		if (s->others && (unsigned)up_to(4 * s->others) == 0) {
			away += up_to(5e3);
			preempt(up_to(s->others_most));
		}
		if (s->waits && (unsigned)up_to(4 * s->waits) == 0) {
			waits_itself = true;
			preempt(up_to(s->waits_most));
			waits_itself = false;
		}
	}
}

static void disturbed(const struct disturbance *s, const char *where)
{
	/* The first few, until what interrupts take is known. */
	const unsigned n = 100000, most = s->host ? n / s->others / 20 : 0;
	unsigned low = 0, i;
	double done, own = 0, lowest = 1;
	uint64_t a, sum = 0;

	told = has_word && !hidden;
	settled();
	for (i = 0; i < n; i++) {
		a = count();
		done = cycles;
		disturbed_interval(s);
		done = cycles - done;
		a = count() - a;
		low += (double)a < 0.99 * done;
		lowest = (double)a / done < lowest ? (double)a / done : lowest;
		own += done;
		sum += a;
	}
	ok(low <= most && up,
	   "%s, %s: %u of %u intervals of 20 us show less than the work, the "
	   "lowest %.3f of it; %.3f in all",
	   s->name, where, low, n, lowest, (double)sum / own);
}

static void disturbed_kernels(void)
{
	size_t i;

	for (i = 0; i < sizeof disturbances / sizeof *disturbances; i++) {
		hidden = false;
		has_word = true;
		disturbed(&disturbances[i], "reported");
		hidden = true;
		disturbed(&disturbances[i], "waits not reported");
		has_word = false;
		disturbed(&disturbances[i], "no word");
	}
	hidden = false;
	has_word = told = true;
}

static void preemptions(void)
{
	ok(cpuc_count_alone(), "pauses are left out");
	shares_of_kernels();
	learning();
	waits();
	other_cpu();
	preempted_measuring();
	disturbed_kernels();
	clocks_apart();
	throttled();
	calls_with_gaps();
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

	settled();
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
	ok(up, "handlers after measurements: never decreasing");
	ok(right, "and their work is counted");
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
	core = 2.0;
	run(70e6);
	ok(up && off() < 0.005, "a handler that never returns: measures again");
}

static void twice(void)
{
	count();
	pass(20000);
	count();
	/* The second time that one comes. */
	tick_hook = tick_hook_again ? twice : NULL;
	tick_hook_at = tick_hook_again;
	tick_hook_again = 0;
}

/* Handlers at any two ticks that are read for a count, or by its measurement:
 * no later count is below any that they were given. */
static int at_ticks(int first, int again)
{
	int all;

	count();
	/* In the base's time, and long after it. */
	pass(again % 3 ? 40000 : 4e8);
	calibrated_expire();
	tick_hook = twice;
	tick_hook_at = first;
	tick_hook_again = again;
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
	int first, again;

	open_signals = open;
	settled();
	for (first = 1; at_ticks(first, 0); first++)
		for (again = 1; at_ticks(first, again); again++)
			;
	open_signals = false;
	ok(up && first > 4, "handlers that count at any two of %d ticks%s",
	   first - 1, open ? ", signals open" : "");
}

static void gaps(void)
{
	uint64_t a, n;

	settled();
	a = count();
	pass(4e9 * 3600 * 24);
	n = count() - a;
	ok(distance((double)n / (4e9 * 3600 * 24) - 1) < 0.001,
	   "a day without a call");
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

	settled();
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

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static FILE *open_recorded(const char *name)
{
	const char *top = getenv("top_srcdir");
	char path[512];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/%s", top ? top : "..", name);
	f = fopen(path, "r");
	if (f == NULL)
		skip("no %s here", path);
	return f;
}

/* The steps of a real core's rate: the time of each in ms, and the rate from
 * then on over the clock's. */
#define STEPS_MOST 2000
#define BLOCKS 230
#define BLOCK_NS 10e6
#define TIMED 30000 /* cycles */
#define TIMINGS 2000

static struct {
	double ms[STEPS_MOST], level[STEPS_MOST];
	int n;
} steps;

/* Their replay: for how long each rate lasts, and the one that is next. */
static struct {
	double ns[STEPS_MOST], rate[STEPS_MOST], next;
	int k;
} replayed;

static void swap(double *a, double *b)
{
	double x = *a;

	*a = *b;
	*b = x;
}

/* Levels and how long they last, each in an order of its own. */
static void steps_shuffle(void)
{
	unsigned draw = seed + 1;
	int i;

	for (i = steps.n - 2; i > 0; i--) {
		draw = draw * 1664525u + 1013904223u;
		swap(&replayed.ns[i],
		     &replayed.ns[(draw >> 8) % (unsigned)(i + 1)]);
		draw = draw * 1664525u + 1013904223u;
		swap(&replayed.rate[i],
		     &replayed.rate[(draw >> 8) % (unsigned)(i + 1)]);
	}
}

static void steps_begin(bool shuffle, double tick)
{
	int i;

	for (i = 0; i < steps.n - 1; i++) {
		replayed.ns[i] = (steps.ms[i + 1] - steps.ms[i]) * 1e6;
		replayed.rate[i] = steps.level[i] * 2.6;
	}
	if (shuffle)
		steps_shuffle();
	replayed.k = 0;
	open_machine(replayed.rate[0], 2.6, tick);
	/* Windows of 1200 cycles were off by 0.8% there. */
	jitter = tick > 1 ? 0 : 10;
	run(200e6);
	replayed.next = now;
}

static void step_on(void)
{
	if (now < replayed.next)
		return;
	core = replayed.rate[replayed.k];
	turning = replayed.next += replayed.ns[replayed.k++];
	later = replayed.rate[replayed.k];
}

/* The error of those of n timings that are within 1% of the lower quartile: at
 * one rate, that is. */
static double off_at_one_rate(const double *ns, const double *error, int n)
{
	double sorted[TIMINGS], sum = 0;
	int i, used = 0;

	memcpy(sorted, ns, (size_t)n * sizeof *sorted);
	qsort(sorted, (size_t)n, sizeof *sorted, compare);
	for (i = 0; i < n; i++)
		if (distance(ns[i] / sorted[n / 4] - 1) < 0.01) {
			sum += error[i];
			used++;
		}
	return distance(sum / used);
}

/* The error of a block, in all and at one rate. */
static void steps_block(double *all, double *at_one_rate)
{
	double ns[TIMINGS] = {0}, error[TIMINGS] = {0}, end = now + BLOCK_NS;
	double done = cycles, slow = 0, before, begin;
	uint64_t first = count(), last = first, a;
	int n;

	for (n = 0; now < end; n++) {
		step_on();
		begin = now;
		pass(TIMED);
		ns[n] = now - begin;
		before = core;
		begin = measuring;
		a = last;
		last = count();
		error[n] = (double)(last - a) / (TIMED + reading) - 1;
		slow += (measuring - begin) * before;
	}
	*all = distance((double)(last - first) / (cycles - done - slow) - 1);
	*at_one_rate = off_at_one_rate(ns, error, n);
}

/* By a clock that advances so many ticks at a time. Limits of the 90th
 * percentile of the blocks' errors, in all and at one rate, and of the share
 * of the time. At one rate it may be twice as large: half of a block's timings
 * are at another one. */
static void steps_replay(const char *order, bool shuffle, double tick,
			 double most, double at_one_rate, double share)
{
	double all[BLOCKS] = {0}, one[BLOCKS] = {0}, begin;
	int n;

	steps_begin(shuffle, tick);
	begin = now;
	measuring = 0;
	for (n = 0; n < BLOCKS && replayed.k < steps.n - 50; n++)
		steps_block(&all[n], &one[n]);
	qsort(all, (size_t)n, sizeof *all, compare);
	qsort(one, (size_t)n, sizeof *one, compare);
	ok(n > 100 && all[n * 9 / 10] < most,
	   "%d steps %s, a clock of %g ticks a step: %d blocks "
	   "of 10 ms are %.3f%% off, 90th percentile %.3f%%, worst %.3f%%",
	   replayed.k, order, tick, n, all[n / 2] * 100, all[n * 9 / 10] * 100,
	   all[n - 1] * 100);
	ok(one[n * 9 / 10] < at_one_rate,
	   "at one rate %.3f%% off, 90th percentile %.3f%%, worst %.3f%%",
	   one[n / 2] * 100, one[n * 9 / 10] * 100, one[n - 1] * 100);
	ok(measuring < share * (now - begin), "in %.2f%% of the time",
	   measuring / (now - begin) * 100);
}

/* A rate that goes up by 3 to 6% in 20 ms and down again in 80 ms, about, as a
 * Zen 5 core's did, in steps of 1 ms. */
static void climbing(void)
{
	double level = 1.6, by = 0;
	unsigned draw = seed + 1;
	int i, left = 0;

	for (i = 0; i < STEPS_MOST; i++) {
		if (left-- == 0) {
			draw = draw * 1664525u + 1013904223u;
			left = by > 0 ? 79 : 19;
			by = (by > 0 ? -0.0006 : 0.0024) *
			     (1 + (draw >> 24) / 256.);
		}
		steps.ms[i] = i;
		steps.level[i] = level;
		level += by;
		level = level < 1.6 ? 1.6 : level;
	}
	steps.n = STEPS_MOST;
	steps_replay("of a core that climbs", false, 1, 0.0065, 0.007, 0.012);
	steps_replay("of a core that climbs", false, 26, 0.0065, 0.007, 0.012);
}

static void stepping(void)
{
	FILE *f = open_recorded("rate-steps.txt");
	char comment[2];

	if (f == NULL)
		return;
	while (fscanf(f, " %1[#]%*[^\n]", comment) == 1)
		;
	while (steps.n < STEPS_MOST && fscanf(f, "%lf %lf", &steps.ms[steps.n],
					      &steps.level[steps.n]) == 2)
		steps.n++;
	fclose(f);
	for (seed = 0; seed < seeds; seed++) {
		steps_replay("of a real core", false, 1, 0.0015, 0.003, 0.012);
		steps_replay("in another order", true, 1, 0.0015, 0.003, 0.012);
		/* A look takes twice as long there, and so comes half as
		 * often. */
		steps_replay("in another order", true, 26, 0.003, 0.006, 0.013);
	}
	seed = 0;
}

/* Real windows, as tests/bench/windows recorded them: of each host a line with
 * its name, one about the windows, and then groups: a tick, and the ticks of
 * the short and the long run of three windows. */
#define GROUPS 400
#define AROUND 8 /* groups on either side that tell the truth */

static struct recorded {
	char host[256];
	unsigned long long hz;
	unsigned cycles, turns;
	int n, next; /* groups, and windows that were replayed */
	unsigned long long tick[GROUPS], run[GROUPS][3][2];
	double about; /* the ratio */
} record;

static uint64_t replay_now;

static long long replay_tick(void)
{
	return (long long)++replay_now;
}

static void replay_window(uint32_t turns, uint64_t stamp[3])
{
	unsigned long long *run =
		record.run[record.next / 3 % record.n][record.next % 3];

	/* So many links' ticks, in an eighth of the long run, are missing. */
	const double more = ((double)turns - record.turns) * record.cycles / 7 /
			    record.about;

	record.next++;
	stamp[0] = replay_now;
	stamp[1] = replay_now += run[0] + (uint64_t)(int64_t)more;
	stamp[2] = replay_now += run[1] + (uint64_t)(int64_t)(8 * more);
}

/* The ratio around group i: the mean without disturbed windows. */
static double replay_truth(int i)
{
	double v[3 * (2 * AROUND + 1)] = {0}, sum = 0;
	int j, k, n = 0, used = 0;

	for (j = i - AROUND; j <= i + AROUND; j++)
		for (k = 0; k < 3 && j >= 0 && j < record.n; k++)
			v[n++] = (double)(record.run[j][k][1] -
					  record.run[j][k][0]);
	qsort(v, (size_t)n, sizeof *v, compare);
	for (j = 0; j < n; j++)
		if (distance(v[j] / v[n / 2] - 1) < 0.02) {
			sum += v[j];
			used++;
		}
	return record.cycles * record.turns / (sum / used);
}

static void replay_host(void)
{
	struct cpuc_chain chain = {replay_window, record.cycles, "imul"};
	struct cpuc_chain_ops real = {&chain, 1, 0};
	struct cpuc_clock by = {
		.tick = replay_tick, .chains = &real, .hz = record.hz};
	double v[GROUPS];
	int i;

	forget();
	record.about = replay_truth(AROUND);
	replay_now = record.tick[0];
	record.next = 0;
	if (!ok(cpuc_calibrate(&by, &refusal) == 0, "%s: calibrates",
		record.host))
		return;
	for (i = 0; i < record.n; i++) {
		replay_now = record.tick[i];
		record.next = 3 * i;
		record.about = replay_truth(i);
		calibrated_expire();
		cpuc_count(replay_tick);
		v[i] = distance((double)cpuc_own_count.ratio.mean /
					4294967296. / replay_truth(i) -
				1);
	}
	qsort(v, (size_t)i, sizeof *v, compare);
	ok(v[i / 2] < 0.0006 && v[i * 9 / 10] < 0.0015,
	   "%s: %d groups of windows, the ratio is %.3f%% off, 90th percentile "
	   "%.3f%%",
	   record.host, i, v[i / 2] * 100, v[i * 9 / 10] * 100);
	forget();
}

/* The next host's; false: there is none. */
static bool replay_read(FILE *f)
{
	unsigned long long *run;

	memset(&record, 0, sizeof record);
	if (fscanf(f,
		   " host %255[^\n] clock %llu Hz, %u cycles a turn, %u turns",
		   record.host, &record.hz, &record.cycles, &record.turns) != 4)
		return false;
	for (; record.n < GROUPS; record.n++) {
		run = record.run[record.n][0];
		if (fscanf(f, "%llu %llu %llu %llu %llu %llu %llu",
			   &record.tick[record.n], run, run + 1, run + 2,
			   run + 3, run + 4, run + 5) != 7)
			break;
	}
	return true;
}

static void replay(void)
{
	FILE *f = open_recorded("windows.txt");

	while (f != NULL && replay_read(f))
		replay_host();
	if (f != NULL)
		fclose(f);
}

/* These must not depend on the time at which anything happens. */
static void at_any_time(void)
{
	size_t i;

	for (i = 0; i < sizeof machines / sizeof *machines; i++)
		steady(&machines[i]);
	ramps();
	for (i = 0; i < sizeof rows_of_moves / sizeof *rows_of_moves; i++)
		cores(&rows_of_moves[i]);
	slower();
	dithering();
	wander();
	interrupted();
	busy_sibling();
	two_levels();
	follows();
	young();
	longer_windows();
	rested();
	in_order();
	wrong_overhead();
	stolen();
}

/* A clock of 1 GHz that advances by 41.67 ticks at a time, as on Apple silicon,
 * and reads that are faster than that. */
static void quick_reads(void)
{
	static const double cycles_of[] = {1, 3, 16, 70, 100};
	unsigned i;

	ops = &arm;
	for (i = 0; i < sizeof cycles_of / sizeof *cycles_of; i++) {
		reading = cycles_of[i];
		ok(open_machine(3.2, 1.0, 125 / 3.) == 0,
		   "calibrates, %g ns a read", reading / 3.2);
		ok(cpuc_calibration.span > 360 * 41 &&
			   cpuc_calibration.span < 360 * 60,
		   "steps of 41.67 ticks, %g ns a read: windows of %u",
		   reading / 3.2, (unsigned)cpuc_calibration.span);
		count();
		ok(off() < 0.004, "and %.3f%% off", off() * 100);
	}
	reading = 38;
	ops = &x86;
}

/* Another core, of another rate, where no interruption is reported. */
static void other_core(void)
{
	double t;

	ops = &arm;
	has_word = false;
	open_machine(3.2, 1.0, 125 / 3.);
	run(100e6);
	cpu++;
	core = 2.4;
	t = until_seen(9e4, 0.01);
	ok(t < 1e6, "a move to a slower core is measured within %.2f ms",
	   t / 1e6);
	has_word = true;
	ops = &x86;
}

int main(void)
{
	const char *text = getenv("SIM_SEEDS");
	size_t i;

	cpuc_process_prepare();
	cpuc_rseq_section = sections;
	/* Emulators are slow. */
	if (text != NULL)
		seeds = (unsigned)atoi(text);
	for (seed = 0; seed < seeds; seed++) {
		diag("seed %u", seed);
		at_any_time();
	}
	seed = 0;
	first_calls();
	not_counted();
	pauses();
	delayed();
	stopping();
	refusals();
	siblings();
	for (i = 0; i < sizeof odd_ones / sizeof *odd_ones; i++)
		one_is_odd(&odd_ones[i]);
	heavy_sibling();
	agreement();
	coarse();
	interrupted_trial();
	quick_reads();
	zen();
	other_core();
	rarest();
	deviations();
	signals();
	at_any_tick(false);
	at_any_tick(true);
	gaps();
	suspended();
	preemptions();
	two_copies();
	stepping();
	for (seed = 0; seed < seeds; seed++)
		climbing();
	seed = 0;
	replay();
	return done_testing();
}
