/* SPDX-License-Identifier: 0BSD */
/* The calibrated count on a pretended machine: a clock of known step and a core
 * of known rate, so that every promise can be checked exactly. */
#include <config.h>
#include <errno.h>
#include <setjmp.h>
#include <string.h>
#include "calibrate.h"
#include "tap.h"

/* The machine. Time in ns, rates in cycles or ticks per ns. */
static double now, core, clock_rate, step;
static double drift, since;  /* relative change of the core's rate per ns */
static double cycles;        /* that the core has done in all */
static double measuring;     /* ns inside the slow path */
static unsigned bad;         /* one of so many windows is interrupted */
static unsigned windows = 1; /* state of the choice */
static int stopped;
static double chain_error;      /* of the second chain */
static void (*hook)(void);      /* a signal handler, called in a window */
static void (*tick_hook)(void); /* another, called at one of the next ticks */
static int tick_hook_at;        /* 1: before the next, 2: after it, 3: ... */
static int tick_hook_again;     /* how much later another one comes, or 0 */
static unsigned changes;
static uint64_t last_ratio;

static void come_in(void)
{
	void (*h)(void) = tick_hook;

	if (h == NULL || --tick_hook_at > 0)
		return;
	tick_hook = NULL;
	h();
}

static void pass(double c)
{
	double ns = c / (core * (1 + drift * (now - since)));

	cycles += c;
	now += ns;
}

static long long fake_tick(void)
{
	static double at;
	long long tick;

	come_in();
	pass(38);
	if (!stopped)
		at = now;
	tick = (long long)((double)(long long)((at * clock_rate + 1e9) / step) *
			   step);
	come_in();
	return tick;
}

static void chain_of(double n, uint32_t turns, int is_long)
{
	void (*h)(void) = hook;

	pass(18 + n * turns);
	windows = windows * 1664525u + 1013904223u;
	if (bad && (windows >> 16) % bad == 0)
		now += 1500 + (windows >> 8) % 20000;
	if (h && is_long && turns > 1) {
		hook = NULL;
		h();
	}
}

static void chain1(uint32_t turns)
{
	chain_of(512, turns, 1);
}

static void brief1(uint32_t turns)
{
	chain_of(32, turns, 0);
}

static void chain2(uint32_t turns)
{
	chain_of(512 * (1 + chain_error), turns, 1);
}

static const struct cpuc_chain chains[] = {{chain1, brief1, 480},
					   {chain2, brief1, 480}};

/* 96 links, or 16, of `latency` cycles each; the other chains take `shared`
 * times as long as they should. */
static double latency = 3, shared = 1;

static void slow_chain(uint32_t turns)
{
	chain_of(96 * latency / shared, turns, 1);
}

static void slow_brief(uint32_t turns)
{
	chain_of(16 * latency / shared, turns, 0);
}

static const struct cpuc_chain steady_chain = {slow_chain, slow_brief, 80};
static struct cpuc_chain_ops ops = {fake_tick, chains, 2, NULL};

static const struct cpuc_base *base(void)
{
	return &cpuc_count.base[cpuc_count.use];
}

/* The next call measures. */
static void expire(void)
{
	cpuc_count.base[cpuc_count.use].due = 0;
}

static double distance(double a)
{
	return a < 0 ? -a : a;
}

static uint64_t count(void)
{
	uint64_t t = (uint64_t)fake_tick(), n;
	double a = now;

	n = cpuc_calibrated(t);
	measuring += now - a;
	changes += base()->ratio != last_ratio ? 1u : 0u;
	last_ratio = base()->ratio;
	return n;
}

static const char *why;
static unsigned permille;

static int open_machine(double ghz, double ticks, double by)
{
	memset(&cpuc_count, 0, sizeof cpuc_count);
	memset(&cpuc_ruler, 0, sizeof cpuc_ruler);
	core = ghz;
	clock_rate = ticks;
	step = by;
	drift = now = since = 0;
	bad = 0;
	stopped = 0;
	hook = NULL;
	return cpuc_calibrate(&ops, (uint64_t)(ticks * 1e9 + .5), &why,
			      &permille);
}

static double truth(void)
{
	return core * (1 + drift * (now - since)) / clock_rate;
}

/* How far the ratio in use is off, relative. */
static double off(void)
{
	return distance((double)base()->ratio / 4294967296. / truth() - 1);
}

/* Timings of about 90000 cycles for `ns`; the largest error of the ratio, and
 * whether every count was at least the one before. */
static double run(double ns, int *monotone)
{
	double end = now + ns, worst = 0;
	uint64_t a = count(), b;

	for (int i = 0; now < end; i++) {
		pass(90000 + i % 977);
		b = count();
		*monotone &= b >= a;
		a = b;
		worst = off() > worst ? off() : worst;
	}
	return worst;
}

static void steady(const char *name, double ghz, double ticks, double by)
{
	double begin, worst, counted, done;
	uint64_t a;
	int up = 1;

	ok(open_machine(ghz, ticks, by) == 0, "%s: calibrates", name);
	ok(now < 600e3, "%s: in %.0f us", name, now / 1e3);
	count();
	ok(off() < 0.004, "%s: the first call is %.3f%% off", name,
	   off() * 100);
	run(3e9, &up);
	changes = 0;
	measuring = 0;
	begin = now;
	a = count();
	done = cycles;
	worst = run(5e9, &up);
	counted = (double)(count() - a);
	done = cycles - done - measuring * core;
	ok(up, "%s: never decreases", name);
	ok(worst < 0.001, "%s: the ratio is within %.4f%%", name, worst * 100);
	/* Four standard errors happen by chance, but seldom. */
	ok(changes <= 2, "%s: noise moves the ratio %u times", name, changes);
	ok(measuring < 0.001 * (now - begin), "%s: %.4f%% of the time", name,
	   measuring / (now - begin) * 100);
	ok(distance(counted / done - 1) < worst + 0.0003,
	   "%s: %.4f%% off in all, measurements not counted", name,
	   (counted / done - 1) * 100);
}

static void not_counted(void)
{
	uint64_t a, b, most = 0;
	double spent;

	open_machine(4.0, 2.596, 26);
	count();
	for (int i = 0; i < 2000000; i++) {
		a = count();
		spent = measuring;
		b = count();
		if (measuring - spent > 500 && b - a > most)
			most = b - a;
	}
	ok(most > 0 && most < 250,
	   "a measurement adds %u cycles to an interval", (unsigned)most);
}

static void steps(void)
{
	double t, hit[2] = {0, 0}, rate[2] = {2.0, 4.0};
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	for (int i = 0; i < 2; i++) {
		core = rate[i];
		for (t = now; now < t + 200e6 && off() > 0.005;) {
			pass(4e6);
			count();
		}
		hit[i] = (now - t) / 1e6;
	}
	ok(hit[0] < 100, "half the rate is seen after %.1f ms", hit[0]);
	ok(hit[1] < 100, "twice the rate is seen after %.1f ms", hit[1]);
	for (int i = 0; i < 40; i++) {
		core = i % 2 ? 3.7 : 1.9;
		run(11e6 + i * 1e5, &up);
	}
	ok(up, "steps: never decreases");
}

static void across(void)
{
	uint64_t a, n;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	a = count();
	pass(2e9);
	core = 2.0;
	pass(1e9);
	n = count() - a;
	ok((double)n > 2.9e9 && (double)n < 3.1e9,
	   "an interval half at 4 GHz, half at 2, counts %.3g of 3e9",
	   (double)n);
}

static void wander(void)
{
	double worst;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	drift = 0.3e-9;
	since = now;
	worst = run(200e6, &up);
	/* What changes in 25 ms, and the noise of a window. */
	ok(worst < 0.0085, "30%% a second: within %.3f%%", worst * 100);
	core *= 1 + drift * (now - since);
	drift = 0.02e-9;
	since = now;
	worst = run(2e9, &up);
	ok(worst < 0.003, "2%% a second: within %.3f%%", worst * 100);
	ok(up, "2%% a second: never decreases");
}

static void interrupted(void)
{
	double worst;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	memset(&cpuc_ruler, 0, sizeof cpuc_ruler);
	bad = 3;
	ok(!cpuc_calibrate(&ops, 2596000000, &why, &permille),
	   "calibrates with one bad window in three");
	count();
	worst = run(2e9, &up);
	ok(worst < 0.005 && up, "one bad window in three: within %.3f%%",
	   worst * 100);
	bad = 1;
	core = 3.9;
	worst = run(100e6, &up);
	ok(worst < 0.03, "every window bad: the old ratio, %.3f%% off",
	   worst * 100);
	bad = 0;
	run(50e6, &up);
	ok(off() < 0.01 && up, "and the new one after that, %.3f%% off",
	   off() * 100);
}

static void slow_handler(void)
{
	pass(4e8);
	count();
	pass(1e6);
}

/* A handler that takes so long that its call takes over. */
static void taken_over(void)
{
	uint64_t a, b;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	a = count();
	expire();
	hook = slow_handler;
	b = count();
	ok(b - a > 400000000 && b - a < 403000000,
	   "a slow handler counts once: %.4g", (double)(b - a));
}

static void thief(void)
{
	now += 50e6;
}

/* Another process has the CPU in the middle of a measurement. */
static void stolen(void)
{
	double t;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	expire();
	hook = thief;
	count();
	ok(off() < 0.002, "50 ms stolen: the ratio is %.3f%% off", off() * 100);
	core = 3.0;
	for (t = now; now < t + 200e6 && off() > 0.005;) {
		pass(1e5);
		count();
	}
	ok(now - t < 30e6, "and a change is seen %.1f ms later",
	   (now - t) / 1e6);
	core = 30;
	run(50e6, &up);
	ok((double)base()->ratio / 4294967296. * 2.596 < 10,
	   "a rate of 30 GHz is not believed");
}

static void stopping(void)
{
	uint64_t a, b, ratio;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	a = count();
	ratio = base()->ratio;
	stopped = 1;
	for (int i = 0; i < 1000; i++) {
		pass(90000);
		b = count();
		up &= b >= a;
		a = b;
	}
	ok(up && base()->ratio == ratio, "a clock that stops changes nothing");
	expire();
	b = count();
	ok(b >= a && base()->ratio == ratio, "nor in a measurement");
	b = cpuc_calibrated(base()->tick - 1000);
	ok(b >= a && b - a < 100000, "nor does one that is a little behind");
	stopped = 0;
	run(50e6, &up);
	ok(off() < 0.002 && up, "and it goes on");
}

static void refusals(void)
{
	int err;

	chain_error = 0.03;
	err = open_machine(4.0, 2.596, 26);
	ok(err == -EDOM && permille >= 28 && permille <= 32 &&
		   strstr(why, "disagree"),
	   "refuses: %s %u.%u%%", why, permille / 10, permille % 10);
	chain_error = 0;
	err = open_machine(0.05, 2.596, 26);
	ok(err == -ERANGE, "refuses: %s", why);
	ok(open_machine(14, 2.596, 26) == -ERANGE, "refuses 14 GHz");
	open_machine(4.0, 2.596, 26);
	memset(&cpuc_ruler, 0, sizeof cpuc_ruler);
	stopped = 1;
	err = cpuc_calibrate(&ops, 2596000000, &why, &permille);
	ok(err == -EAGAIN, "refuses a clock that stands still: %s", why);
	stopped = 0;
	bad = 1;
	now = 0;
	err = cpuc_calibrate(&ops, 2596000000, &why, &permille);
	ok(err != 0, "refuses when every window is interrupted: %s", why);
	ok(now < 20e6, "every window interrupted: ends after %.1f ms",
	   now / 1e6);
}

/* Chains of one cycle that have to wait for another hardware thread. */
static void sharing(void)
{
	double l;
	int wrong = 0;

	ops.steady = &steady_chain;
	for (l = 3; l <= 5; l++)
		for (shared = 1; shared < 1.05; shared += 0.01) {
			latency = l;
			wrong += open_machine(4.0, 2.596, 26) != 0 ||
				 cpuc_ruler.chain != &steady_chain ||
				 cpuc_ruler.latency != (uint32_t)l;
		}
	ok(wrong == 0, "the latency of a steady chain is found out");
	latency = 3;
	shared = 1;
	open_machine(4.0, 2.596, 26);
	ok(cpuc_ruler.chain == &steady_chain && cpuc_ruler.latency == 3,
	   "and it makes the windows");
	count();
	ok(off() < 0.004, "%.3f%% off", off() * 100);
	latency = 3.4;
	open_machine(4.0, 2.596, 26);
	ok(cpuc_ruler.chain == &chains[0],
	   "one of no whole number of cycles is not used");
	ops.steady = NULL;
}

static void agreement(void)
{
	open_machine(4.0, 2.596, 26);
	ok(cpuc_windows(&cpuc_ruler, 12) != 0, "windows agree");
	bad = 1;
	ok(cpuc_windows(&cpuc_ruler, 12) == 0, "interrupted ones do not");
	bad = 0;
}

/* A window of which only a tick is left shows any ratio. */
static void deviations(void)
{
	const uint64_t one = UINT64_C(1) << CPUC_RATIO_BITS;
	uint64_t b;
	int wrong = 0;

	for (b = one / 4; b != 0; b *= 2) {
		wrong += cpuc_deviation(b, b) != 0;
		wrong += cpuc_deviation(0, b) != -(1 << 20);
		wrong += cpuc_deviation(b / 2, b) != -(1 << 19);
		wrong += cpuc_deviation(b - b / 128, b) != -(1 << 13);
		wrong += cpuc_deviation(b + b / 128, b) != 1 << 13;
		wrong += cpuc_deviation(UINT64_MAX, b / 2) != 1 << 20;
	}
	ok(wrong == 0, "deviations are right for ratios up to 2^63");
}

static uint64_t inner[3];
static jmp_buf out;

static int measured; /* a call in the midst of a measurement measured */

static void handler(void)
{
	int use = cpuc_count.use;

	inner[0] = count();
	measured |= cpuc_count.use != use;
	pass(20000);
	inner[1] = count();
	pass(1000);
}

static void leaver(void)
{
	inner[0] = count();
	longjmp(out, 1);
}

static void signals(void)
{
	uint64_t a, b, ratio;
	int up = 1, right = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	ratio = base()->ratio;
	for (int i = 0; i < 1000; i++) {
		a = count();
		expire();
		hook = handler;
		b = count();
		up &= a <= inner[0] && inner[0] <= inner[1] && inner[1] <= b;
		right &= distance((double)(inner[1] - inner[0]) - 20038) < 60;
		hook = NULL;
		pass(90000);
	}
	ok(up, "calls in a handler in a measurement: never decreasing");
	ok(right && !measured, "and the handler's work is counted");
	ok(base()->ratio == ratio, "and the spoilt measurement is dropped");
	expire();
	hook = leaver;
	if (!setjmp(out))
		count();
	core = 2.0;
	a = inner[0];
	for (int i = 0; i < 3000; i++) {
		pass(90000);
		b = count();
		up &= b >= a;
		a = b;
	}
	ok(up && off() < 0.005, "a handler that never returns: measures again");
}

static uint64_t highest; /* that any handler was given */
static int never_back;

static void twice(void)
{
	uint64_t first = count(), second;

	pass(20000);
	second = count();
	never_back &= highest <= first && first <= second;
	highest = second;
	/* The second time that one comes. */
	tick_hook = tick_hook_again ? twice : NULL;
	tick_hook_at = tick_hook_again;
	tick_hook_again = 0;
}

/* Handlers at any two ticks that are read for a count, or by its measurement:
 * what they were given, no later count is below. */
static int at_ticks(int first, int again)
{
	uint64_t a = count(), b, n;
	int all;

	/* In the base's time, and long after it. */
	pass(again % 3 ? 40000 : 4e8);
	expire();
	highest = 0;
	tick_hook = twice;
	tick_hook_at = first;
	tick_hook_again = again;
	b = count();
	all = tick_hook == NULL;
	tick_hook = NULL;
	n = count();
	never_back &= a <= b && b <= n && highest <= n;
	return all;
}

static void at_any_tick(void)
{
	int first, again, up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	never_back = 1;
	for (first = 1; at_ticks(first, 0); first++)
		for (again = 1; at_ticks(first, again); again++)
			;
	ok(never_back && first > 20,
	   "handlers that count at any two of %d ticks", first - 1);
}

static void gaps(void)
{
	uint64_t a, n;
	int up = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
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
	static const double to[] = {4e9,  3600e9 * 8, 1e3, 2147483648.,
				    4294967296., 281474976710656. / 2.596,
				    1e3};
	uint64_t a, b, n;
	size_t i;
	int up = 1, right = 1;

	open_machine(4.0, 2.596, 26);
	run(1e9, &up);
	for (i = 0; i < sizeof to / sizeof *to; i++) {
		a = count();
		now = to[i] - 1e3;
		b = count();
		up &= b >= a;
		run(200e6, &up);
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
	steady("x86", 4.0, 2.596, 26);
	steady("x86, one tick", 3.1, 2.1, 1);
	steady("arm64, 1 GHz", 2.6, 1.0, 1);
	steady("arm64, 54 MHz", 1.5, 0.054, 1);
	steady("arm64, 24 MHz", 3.2, 0.024, 1);
	not_counted();
	steps();
	across();
	wander();
	interrupted();
	taken_over();
	stolen();
	stopping();
	refusals();
	sharing();
	agreement();
	deviations();
	signals();
	at_any_tick();
	gaps();
	suspended();
	return done_testing();
}
