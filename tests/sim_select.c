/* SPDX-License-Identifier: 0BSD */
/* Selection among pretended counters on a pretended clock. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include "cpucycles.h"
#include "first_call.h"
#include "clock.h"
#include "perf/available.h"
#include "registry.h"
#include "select.h"
#include "system/os_clock.h"
#include "system/probe.h"
#include "faults/real.h"
#include "nominal_rate.h"
#include "tap.h"

/* The pretended machine: a clock of which each reading takes 7 ns. */
static uint64_t clock_now = 1000000;

uint64_t cpuc_os_clock_ns(void)
{
	return clock_now += 7;
}

uint64_t cpuc_os_clock_us(void)
{
	return cpuc_os_clock_ns() / 1000;
}

uint64_t cpuc_os_clock_coarse_ns(void)
{
	return cpuc_os_clock_ns();
}

uint64_t cpuc_os_clock_thread_ns(void)
{
	return 0;
}

void cpuc_os_clock_check(void)
{
}

bool cpuc_tsc_forbidden(void)
{
	return false;
}

/* Counters are functions of the clock, each with what it does wrong. */
static uint64_t ticks(uint64_t per_second)
{
	clock_now += 5;
	return clock_now / 1000 * (per_second / 1000) / 1000 +
	       clock_now % 1000 * (per_second / 1000) / 1000000;
}

static int calls;

static long long fine(void)
{
	return (long long)ticks(2000000000);
}

static long long slow(void)
{
	clock_now += 200;
	return (long long)ticks(2000000000);
}

static long long constant(void)
{
	clock_now += 5;
	return 42;
}

static long long back_once(void)
{
	long long t = (long long)ticks(2000000000);

	return ++calls == 700 ? t - 1000000 : t;
}

static long long back_always(void)
{
	long long t = (long long)ticks(2000000000);

	return ++calls % 900 == 0 ? t - 1000000 : t;
}

static long long jumping(void)
{
	if (++calls % 300 == 0)
		clock_now += 50000000;
	return (long long)ticks(2000000000);
}

static long long faulting(void)
{
	real_trap();
	return 0;
}

static long long faulting_late(void)
{
	if (++calls == 500)
		real_access();
	return (long long)ticks(2000000000);
}

static long long wrapping(void)
{
	return (long long)(uint32_t)(ticks(2000000000) + 0xfffffff0u);
}

static long long third(void)
{
	return (long long)ticks(1500000000);
}

static long long two_fifths(void)
{
	return (long long)ticks(800000000);
}

static long long nearly_nominal(void)
{
	return (long long)ticks(1990000000);
}

static long long half_nominal(void)
{
	return (long long)ticks(1000000000);
}

/* Of no rate. */
static long long erratic(void)
{
	static long long n;

	clock_now += 5;
	calls++;
	return n += 1 + calls * calls % 1000;
}

static long long zero(void)
{
	return 0;
}

static int opened, closed;

/* The events of a pretended counter: in place of perf/available.c. */
struct cpuc_event_set {
	bool open;
};

int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_event_set *pmu)
{
	(void)slot;
	(void)pmu;
	return 0;
}

#define PMUS 8
static struct cpuc_event_set pmus[PMUS], *refused_pmu;
static int order_wrong; /* open() without events */

int cpuc_perf_try(struct cpuc_slot *slot, struct cpuc_event_set *pmu)
{
	(void)slot;
	if (pmu == NULL)
		return 0;
	/* One of this host's, in a selection of its counters. */
	if (pmu < pmus || pmu >= pmus + PMUS)
		return -ENOENT;
	pmu->open = pmu != refused_pmu;
	return pmu->open ? 0 : -ENOENT;
}

void cpuc_perf_close(struct cpuc_event_set *pmu)
{
	if (pmu < pmus || pmu >= pmus + PMUS)
		return;
	closed += pmu->open;
	pmu->open = false;
}

static int open_denied(struct cpuc_slot *slot)
{
	cpuc_reason(slot, "denied by the test");
	return -EACCES;
}

static int open_mute(struct cpuc_slot *slot)
{
	(void)slot;
	return -ENOENT;
}

static int open_counted(struct cpuc_slot *slot)
{
	order_wrong += !slot->counter->events->open;
	opened++;
	return 0;
}

static uint64_t gigahertz(void)
{
	return 1000000000;
}

static uint64_t lie(void)
{
	return 123456789;
}

static uint64_t exaggerate(void)
{
	return 1050000000;
}

/* The clocks that counters read; NULL: core cycles. */
static const struct cpuc_clock
	half = {.tick = half_nominal, .stated = gigahertz},
	liar = {.tick = half_nominal, .stated = lie},
	exaggerating = {.tick = half_nominal, .stated = exaggerate},
	time_unit = {.tick = fine, .hz = 123456789, .exact = true},
	two_fifths_clock = {.tick = two_fifths}, third_clock = {.tick = third},
	stopped = {.tick = constant},
	nearly = {.tick = nearly_nominal, .nominal = true},
	half_clock = {.tick = half_nominal, .nominal = true},
	third_nominal = {.tick = third, .nominal = true},
	no_rate = {.tick = erratic, .nominal = true};

#define CORE CPUC_CORE, NULL, 64

static struct cpuc_slot slots[8];
static struct cpuc_counter counters[8];
static struct cpuc_clock clocks[8];
static size_t count;

static struct cpuc_slot *add(const char *name, enum cpuc_kind kind,
			     const struct cpuc_clock *clock, unsigned bits,
			     long long (*reader)(void),
			     int (*opener)(struct cpuc_slot *))
{
	if (clock != NULL)
		clocks[count] = *clock;
	counters[count] =
		(struct cpuc_counter){.name = name,
				      .kind = kind,
				      .clock = clock ? &clocks[count] : NULL,
				      .bits = bits,
				      .read = reader,
				      .open = opener,
				      .events = &pmus[count]};
	slots[count] = (struct cpuc_slot){.counter = &counters[count]};
	return &slots[count++];
}

static const char *choose(const char *wanted)
{
	struct cpuc_slot *s;

	calls = 0;
	cpuc_probe_begin();
	s = cpuc_select(slots, count, wanted);
	cpuc_probe_end();
	return s ? s->counter->name : "none";
}

static void fresh(void)
{
	count = rates_asked = 0;
	opened = closed = order_wrong = 0;
	refused_pmu = NULL;
}

/* A counter alone beside zero: taken, or dropped with this in its reason. */
static struct cpuc_slot *alone(const char *what, enum cpuc_kind kind,
			       const struct cpuc_clock *clock, unsigned bits,
			       long long (*reader)(void),
			       int (*opener)(struct cpuc_slot *),
			       const char *reason)
{
	struct cpuc_slot *s;
	const char *got;

	fresh();
	s = add("it", kind, clock, bits, reader, opener);
	add("zero", CPUC_ZERO, NULL, 64, zero, NULL);
	got = choose(NULL);
	if (reason == NULL)
		ok(!strcmp(got, "it") && s->trial.usable &&
			   cpuc_precision(s) > 0,
		   "%s: used (%s, %s)", what, got, s->trial.reason);
	else
		ok(!strcmp(got, "zero") && !s->trial.usable &&
			   cpuc_precision(s) == 0 &&
			   strstr(s->trial.reason, reason),
		   "%s: dropped, because \"%s\"", what, s->trial.reason);
	return s;
}

static void trap(void *arg)
{
	(void)arg;
	real_trap();
}

static const char *trap_reason(void)
{
	int sig;

	cpuc_probe_begin();
	sig = cpuc_probe(trap, NULL);
	cpuc_probe_end();
	return sig == SIGILL ? "SIGILL" : "signal";
}

static void check_wrong_counters(void)
{
	struct cpuc_slot *s;

	alone("a fine counter", CORE, fine, NULL, NULL);
	alone("a constant", CORE, constant, NULL, "does not advance");
	alone("a constant of 32 bits", CPUC_CORE, NULL, 32, constant, NULL,
	      "does not advance");
	alone("one that goes back once", CORE, back_once, NULL, NULL);
	alone("one that goes back always", CORE, back_always, NULL,
	      "goes backwards");
	s = alone("one that jumps", CORE, jumping, NULL, NULL);
	ok(cpuc_precision(s) < 1000, "its step is its smallest (%lld)",
	   cpuc_precision(s));
	alone("one that faults", CORE, faulting, NULL, trap_reason());
	alone("one that faults late", CORE, faulting_late, NULL, "SIGSEGV");
	alone("one that the system denies", CORE, fine, open_denied,
	      "denied by the test");
	alone("one that gives an error alone", CORE, fine, open_mute, "No");
}

static void check_scales(void)
{
	struct cpuc_slot *s;
	long long a, b;

	s = alone("32 bits that wrap", CPUC_CORE, NULL, 32, wrapping, NULL,
		  NULL);
	a = s->reader.of(s);
	clock_now += 1000;
	b = s->reader.of(s);
	ok(b - a > 2000 && b - a < 2200, "and count on past the wrap");

	s = alone("a clock of 2/5 the rate", CPUC_REFERENCE, &two_fifths_clock,
		  64, two_fifths, NULL, NULL);
	ok(cpuc_scale_ratio(&s->reader.scale) == 2.5,
	   "is scaled by 2.5 exactly");
	ok(rates_asked > 0, "of a nominal rate that is asked for");
	alone("one of a ratio of 4/3", CPUC_REFERENCE, &third_clock, 64, third,
	      NULL, "no multiple of 1/1024");
	alone("one that stands still", CPUC_REFERENCE, &stopped, 64, constant,
	      NULL, "cannot be measured");

	s = alone("one of a known rate", CPUC_REFERENCE, &half, 64,
		  half_nominal, NULL, NULL);
	ok(cpuc_scale_ratio(&s->reader.scale) == 2, "is scaled by that");
	s = alone("one that states a wrong rate", CPUC_REFERENCE, &liar, 64,
		  half_nominal, NULL, NULL);
	ok(cpuc_scale_ratio(&s->reader.scale) == 2,
	   "is scaled by the right one (%f)",
	   cpuc_scale_ratio(&s->reader.scale));
	s = alone("one that states 5% more", CPUC_REFERENCE, &exaggerating, 64,
		  half_nominal, NULL, NULL);
	ok(cpuc_scale_ratio(&s->reader.scale) == 2,
	   "is scaled by the right one");
	s = alone("a time, of which nothing is checked", CPUC_OS, &time_unit,
		  64, fine, NULL, NULL);
	ok(s->reader.scale.mult == cpuc_scale_of(2000000000, 123456789).mult,
	   "is scaled by that");

	s = alone("a nominal clock within 1%", CPUC_REFERENCE, &nearly, 64,
		  nearly_nominal, NULL, NULL);
	ok(s->reader.scale.mult == 0, "is not scaled");
	s = alone("a nominal clock of half the rate", CPUC_REFERENCE,
		  &half_clock, 64, half_nominal, NULL, NULL);
	ok(cpuc_scale_ratio(&s->reader.scale) == 2, "is scaled by 2");
	s = alone("a nominal clock of 3/4 of the rate", CPUC_REFERENCE,
		  &third_nominal, 64, third, NULL, NULL);
	ok(cpuc_scale_ratio(&s->reader.scale) > 1.332 &&
		   cpuc_scale_ratio(&s->reader.scale) < 1.335,
	   "is scaled all the same");
	s = alone("a nominal clock of no rate", CPUC_REFERENCE, &no_rate, 64,
		  erratic, NULL, NULL);
	ok(s->reader.scale.mult == 0, "is taken as it is");
}

static void check_ranking(void)
{
	struct cpuc_slot *a;

	fresh();
	a = add("reference", CPUC_REFERENCE, NULL, 64, fine, NULL);
	add("slow core", CPUC_CORE_KERNEL, NULL, 64, slow, NULL);
	ok(!strcmp(choose(NULL), "reference"),
	   "a reference clock wins over a slow core counter");
	ok(cpuc_precision(a) > 100 && cpuc_precision(a) < 120,
	   "with 100 cycles added (%lld)", cpuc_precision(a));

	fresh();
	add("reference", CPUC_REFERENCE, NULL, 64, fine, NULL);
	add("core", CORE, fine, NULL);
	ok(!strcmp(choose(NULL), "core"), "a core counter wins over a clock");
	ok(rates_asked == 0, "and nobody asks for the nominal rate");

	fresh();
	add("first", CORE, fine, open_counted);
	add("second", CORE, fine, open_counted);
	ok(!strcmp(choose(NULL), "first"), "the earlier wins a tie");
	ok(opened == 2 && closed == 1 && order_wrong == 0,
	   "and the loser's events are closed");

	fresh();
	add("first", CORE, fine, open_counted);
	add("second", CORE, fine, open_counted);
	counters[1].events = counters[0].events;
	choose(NULL);
	ok(opened == 2 && closed == 0, "not when the winner reads them too");

	fresh();
	add("first", CORE, fine, open_counted);
	add("second", CORE, fine, open_counted);
	refused_pmu = counters[0].events;
	ok(!strcmp(choose(NULL), "second") && opened == 1 && order_wrong == 0,
	   "no open() without events");

	fresh();
	add("zero", CPUC_ZERO, NULL, 64, zero, NULL);
	add("os", CPUC_OS, NULL, 64, slow, NULL);
	ok(!strcmp(choose(NULL), "os"), "anything that counts beats zero");
}

static void check_wanted(void)
{
	struct cpuc_slot *a, *b;

	fresh();
	a = add("first", CORE, fine, open_counted);
	b = add("second", CPUC_OS, NULL, 64, slow, open_counted);
	ok(!strcmp(choose("second"), "second"), "a named counter is taken");
	ok(opened == 1, "and no other is tried");
	ok(!a->trial.usable && strstr(a->trial.reason, "not tried: second"),
	   "which the others say: %s", a->trial.reason);
	ok(!strcmp(choose(NULL), "first") && !b->trial.tried && opened == 2,
	   "choosing again takes the better, and leaves out what cannot win");

	fresh();
	add("first", CORE, fine, NULL);
	b = add("second", CORE, constant, NULL);
	ok(!strcmp(choose("second"), "first"),
	   "a named counter that does not work is not taken");
	ok(strstr(b->trial.reason, "does not advance") != NULL, "and says why");
	ok(!strcmp(choose("third"), "first"), "nor one that does not exist");
}

static void check_settled(void)
{
	struct cpuc_slot *s, before;

	fresh();
	s = add("it", CPUC_REFERENCE, &two_fifths_clock, 64, two_fifths, NULL);
	choose(NULL);
	before = *s;
	clock_now += 3000000;
	choose(NULL);
	ok(s->reader.scale.mult == before.reader.scale.mult &&
		   s->reader.scale.shift == before.reader.scale.shift &&
		   s->reader.entry == before.reader.entry,
	   "selecting again leaves what readers use as it is");
}

/* As on a weakly ordered CPU: a thread is in one counter's entry, and sees
 * another's slot. */
static void check_stale(void)
{
	struct cpuc_slot *narrow;
	long long before, got, after;

	fresh();
	narrow = add("narrow", CPUC_CORE, NULL, 32, wrapping, NULL);
	choose(NULL);
	before = cpucycles();
	got = narrow->reader.entry();
	after = cpucycles();
	ok(before <= got && got <= after,
	   "an entry that finds a slot of another shape counts with the "
	   "selected one");
}

/* Where nothing can be tried: the first clock of the system that opens. */
static void check_last_resort(void)
{
	struct cpuc_slot *s;

	fresh();
	add("core", CORE, fine, NULL);
	add("denied", CPUC_OS, NULL, 64, fine, open_denied);
	add("clock", CPUC_OS, NULL, 64, fine, NULL);
	s = cpuc_last_resort(slots, count);
	ok(!strcmp(s->counter->name, "clock") && s->trial.usable &&
		   s->trial.reason[0] == '\0',
	   "the last resort: a clock without open()");
	fresh();
	add("core", CORE, fine, NULL);
	add("zero", CPUC_ZERO, NULL, 64, zero, NULL);
	s = cpuc_last_resort(slots, count);
	ok(!strcmp(s->counter->name, "zero"), "without any, default-zero");
}

/* A calibrated counter is never left for the bare clock that it reads, however
 * long its calls take: the nominal rate, which may be in files, is not asked
 * for. */
static void check_same_clock(void)
{
	struct cpuc_slot *s;
	const char *got;

	fresh();
	s = add("calibrated", CPUC_CALIBRATED, &half, 64, slow, NULL);
	s->reader.made = true;
	cpuc_compose(s);
	add("bare", CPUC_REFERENCE, NULL, 64, half_nominal, NULL);
	counters[1].clock = counters[0].clock;
	got = choose(NULL);
	ok(!strcmp(got, "calibrated") &&
		   cpuc_precision(s) > 2 * cpuc_kind_added(CPUC_REFERENCE) &&
		   !slots[1].trial.tried && rates_asked == 0,
	   "calibrated, in steps of %lld cycles: its bare clock is not tried, "
	   "nor the rate asked for",
	   s->trial.step);
}

int main(void)
{
	nominal_rate = 2000000000;
	check_stale();
	check_wrong_counters();
	check_scales();
	check_ranking();
	check_same_clock();
	check_wanted();
	check_settled();
	check_last_resort();
	return done_testing();
}
