/* SPDX-License-Identifier: 0BSD */
/* Selection among pretended counters on a pretended clock. */
#include <config.h>
#include <errno.h>
#include <string.h>
#include "cpucycles.h"
#include "rate/clock.h"
#include "perf/perf.h"
#undef cpuc_perf_try
#undef cpuc_perf_close
#undef cpuc_perf_opened
#undef cpuc_perf_absent
#undef cpuc_perf_proved
#undef cpuc_perf_right
#undef cpuc_perf_unproven
#undef cpuc_perf_pair
#include "registry.h"
#include "system/probe.h"
#include "tap.h"

/* What a trace prints, and how often it is flushed. */
static char traced[1000];
static int flushed;

__attribute__((format(printf, 1, 2))) static void trace(const char *fmt, ...)
{
	const size_t n = strlen(traced);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(traced + n, sizeof traced - n, fmt, ap);
	va_end(ap);
	errno = ENOSPC;
}

static void trace_flush(FILE *f)
{
	flushed += f == stdout;
}

/* Probes that were begun and have not ended. */
static int probes;

#define printf(...) trace(__VA_ARGS__)
#define fflush trace_flush
#define cpuc_probe_begin() (probes++, cpuc_probe_begin())
#define cpuc_probe_end() (probes--, cpuc_probe_end())
#include "../src/cpucycles.c"
#undef printf
#undef fflush
#undef cpuc_probe_begin
#undef cpuc_probe_end
#include "../src/instructions.c"
#include "../src/select.c"
#include "../src/thread/marks.h"
#include "faults/faults.h"
#include "faults/real.h"
#include "pretended_chains.h"
#include "pretended_clock.h"
#include "pretended_rate.h"

/* The pretended machine: a clock of which each reading takes 7 ns. */
static uint64_t clock_now = 1000000;

uint64_t cpuc_os_clock_ns(void)
{
	return clock_now += 7;
}

/* Readers of counters: functions of the clock, most of them with a fault. */
static long long ticks(uint64_t per_us)
{
	clock_now += 5;
	return (long long)(clock_now * per_us / 1000);
}

#define AT_RATE(name, mhz)          \
	static long long name(void) \
	{                           \
		return ticks(mhz);  \
	}
/* clang-format off */
AT_RATE(fine, 2000)
AT_RATE(nearly, 1990)
AT_RATE(three_eighths, 750)
AT_RATE(half, 1000)
AT_RATE(two_fifths, 800)
/* clang-format on */

/* As fine(), but some ns later, and so much less. */
#define MISTAKEN(name, ns, less)        \
	static long long name(void)     \
	{                               \
		clock_now += (ns);      \
		return fine() - (less); \
	}
static int calls;
/* clang-format off */
MISTAKEN(slow, 200, 0)
MISTAKEN(back_once, 0, ++calls == 700 ? 1000000 : 0)
MISTAKEN(trapping_back, 100000, ++calls % 45 == 0 ? 1000000 : 0)
MISTAKEN(jumping, ++calls % 300 == 0 ? 50000000 : 0, 0)
/* clang-format on */

/* By one at each call, until a round has seen it. */
static long long by_one(void)
{
	static long long n;

	return n += calls++ < 2000;
}

/* By `seldom` now and then, otherwise by more. */
static long long seldom;

static long long uneven(void)
{
	static long long n;

	return n += ++calls % 8 ? seldom + 1000 : seldom;
}

/* As a clock of 10 ms steps of which each reading takes 1 us. */
static long long once_in_10000(void)
{
	return ++calls / 10000;
}

static long long constant(void)
{
	calls++;
	clock_now += 5;
	return 42;
}

static long long faulting_late(void)
{
	if (++calls == 500)
		real_access();
	return fine();
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

/* The events of a pretended counter: in place of perf/perf.c. */
struct cpuc_event_set {
	bool open, opened; /* in this thread, and ever */
	bool right;        /* by the latest trial */
	int faults;        /* tries and closes that read a register in vain */
};

#define PMUS 8
static struct cpuc_event_set pmus[PMUS], *refused_pmu;
static struct cpuc_event_set forbidden = {.faults = 2},
			     replaces = {.faults = 1};

int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_event_set *pmu)
{
	(void)slot;
	(void)pmu;
	return 0;
}

int cpuc_perf_try(struct cpuc_slot *slot, struct cpuc_event_set *pmu)
{
	(void)slot;
	if (pmu == NULL)
		return 0;
	pmu->open = pmu != refused_pmu;
	pmu->opened |= pmu->open;
	if (pmu->faults-- > 0)
		real_access();
	return pmu->open ? 0 : -ENOENT;
}

void cpuc_perf_close(struct cpuc_event_set *pmu)
{
	if (pmu != NULL && pmu->faults-- > 0)
		real_access();
	if (pmu != NULL)
		pmu->open = false;
}

bool cpuc_perf_opened(const struct cpuc_event_set *pmu)
{
	return pmu == NULL || pmu->opened;
}

/* The events that the thread reads on another type of core. */
static const struct cpuc_event_set *unproven;

void cpuc_perf_proved(struct cpuc_event_set *pmu, bool right)
{
	if (pmu != NULL)
		pmu->right = right;
	if (right && unproven == pmu)
		unproven = NULL;
}

bool cpuc_perf_unproven(const struct cpuc_event_set *pmu)
{
	return unproven == pmu;
}

bool cpuc_perf_right(const struct cpuc_event_set *pmu)
{
	return pmu->right;
}

/* A pair begins with this. */
static long long first_of_pair;
static struct cpuc_event_set *paired[2];

void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2])
{
	paired[0] = cycles;
	paired[1] = instructions;
	pair[0] = first_of_pair;
	pair[1] = 4711;
}

/* What counts while a counter is tried. */
static long long (*in_trial)(void);

static int open_denied(struct cpuc_slot *slot)
{
	in_trial = cpucycles;
	cpuc_reason(slot, "denied by the test");
	return -EACCES;
}

static uint64_t gigahertz(void)
{
	return 1000000000;
}

static uint64_t exaggerate(void)
{
	return 1050000000;
}

/* Counters' descriptions; without a clock they count cycles. */
/* clang-format off */
#define OF(which, reader) {.kind = (which), .read = (reader)}
#define CORE(reader) OF(CPUC_CORE, reader)
#define SLOW OF(CPUC_OS, slow)
#define ZERO OF(CPUC_ZERO, zero)
#define DENIED {.kind = CPUC_CORE, .read = fine, .open = open_denied}
#define EVENTS(which, set) {.kind = (which), .read = fine, .events = (set)}
#define CLOCK(which, reader, ...) \
	{.kind = (which), .read = (reader), \
	 .clock = &(struct cpuc_clock){.tick = (reader), __VA_ARGS__}}
#define STATED(reader, by) CLOCK(CPUC_REFERENCE, reader, .stated = (by))
#define NOMINAL(reader) CLOCK(CPUC_REFERENCE, reader, .nominal = true)
/* clang-format on */

static struct cpuc_slot slots[PMUS];
static struct cpuc_counter counters[PMUS];
static size_t count;

static void fresh(void)
{
	count = rates_asked = 0;
	memset(pmus, 0, sizeof pmus);
	refused_pmu = NULL;
}

static struct cpuc_slot *add(const char *name, struct cpuc_counter c)
{
	c.name = name;
	if (c.events == NULL)
		c.events = &pmus[count];
	counters[count] = c;
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

/* A counter alone beside zero: dropped with this in the reason, or used, and
 * the cycles of a tick then. */
static const struct alone {
	const char *what;
	struct cpuc_counter it;
	const char *reason;
	double ratio;
} alone[] = {
	{"a constant", CORE(constant), "does not advance", 0},
	{"one that goes back once", CORE(back_once), NULL, 1},
	{"now and then, and each read traps", CORE(trapping_back),
	 "goes backwards", 0},
	{"one that jumps", CORE(jumping), NULL, 1},
	{"one that advances by one", CORE(by_one), NULL, 1},
	{"and at every 10000th read", CORE(once_in_10000), NULL, 1},
	{"one that faults late", CORE(faulting_late), "SIGSEGV", 0},
	{"one denied", DENIED, "denied by the test", 0},
	{"a clock of 2/5 the rate", STATED(two_fifths, NULL), NULL, 2.5},
	{"one of a stated rate", STATED(half, gigahertz), NULL, 2},
	{"of 5% more", STATED(half, exaggerate), NULL, 2},
	{"a time, of which nothing is checked",
	 CLOCK(CPUC_OS, fine, .hz = 123456789, .exact = true), NULL,
	 2000000000. / 123456789},
	{"a nominal clock within 1%", NOMINAL(nearly), NULL, 1},
	/* Rounded to the nearest. */
	{"of 3/8 of the rate", NOMINAL(three_eighths), NULL, 2731. / 1024},
	{"of no rate", NOMINAL(erratic), NULL, 1},
};

static void check_alone(const struct alone *a)
{
	struct cpuc_slot *s;
	const char *got;
	double off;

	fresh();
	s = add("it", a->it);
	add("zero", (struct cpuc_counter)ZERO);
	got = choose(NULL);
	if (a->reason != NULL) {
		ok(!strcmp(got, "zero") && !s->trial.usable &&
			   cpuc_precision(s) == 0 &&
			   strstr(s->trial.reason, a->reason),
		   "%s: dropped, because \"%s\"", a->what, s->trial.reason);
		return;
	}
	cpuc_scale_ratio(&s->reader.scale, &off);
	off -= a->ratio;
	/* The step is the smallest, though some jump. */
	ok(!strcmp(got, "it") && s->trial.usable &&
		   s->trial.reason[0] == '\0' && cpuc_precision(s) > 0 &&
		   cpuc_precision(s) < 1000 && off > -1e-8 && off < 1e-8 &&
		   (s->reader.scale.mult != 0) == (a->ratio != 1),
	   "%s: used, precision %lld, cycles a tick off by %g (%s)", a->what,
	   cpuc_precision(s), off, s->trial.reason);
}

/* As cpucycles(7) says. */
static void check_rounds(void)
{
	fresh();
	add("it", (struct cpuc_counter)CORE(constant));
	choose(NULL);
	ok(calls == 10 * 1000, "%d calls in ten rounds", calls);
}

/* Two counters, by number: the one asked for, the winner, whose events alone
 * stay open, and what is in the loser's reason. */
static const struct contest {
	const char *what;
	struct cpuc_counter first, second;
	int wanted, winner;
	const char *reason;
} contests[] = {
	{"one is named, no other tried", CORE(fine), SLOW, 2, 2,
	 "not tried: second"},
	{"if it is the first, too", SLOW, CORE(fine), 1, 1, "not tried: first"},
	{"not one that fails", CORE(fine), CORE(constant), 2, 1,
	 "does not advance"},
	{"nor one that does not exist", CORE(fine), SLOW, 3, 1, ""},
	{"a clock wins over slow cycles", OF(CPUC_REFERENCE, fine),
	 OF(CPUC_CORE_KERNEL, slow), 0, 1, ""},
	{"cycles over a clock", OF(CPUC_REFERENCE, fine), CORE(fine), 0, 2, ""},
	{"the first, in a tie", CORE(fine), CORE(fine), 0, 1, ""},
	{"same events: not closed", CORE(fine), EVENTS(CPUC_CORE, &pmus[0]), 0,
	 1, ""},
	{"what faults is closed, and read by system calls",
	 EVENTS(CPUC_CORE, &forbidden), EVENTS(CPUC_CORE_KERNEL, &replaces), 0,
	 2, "SIGSEGV"},
};

static void check_contest(const struct contest *c)
{
	static const char *const names[] = {NULL, "first", "second", "third"};
	const struct cpuc_event_set *kept, *other;
	const char *got;

	fresh();
	add("first", c->first);
	add("second", c->second);
	kept = counters[c->winner - 1].events;
	other = counters[2 - c->winner].events;
	got = choose(names[c->wanted]);
	/* All count cycles: the nominal rate does not matter. */
	ok(!strcmp(got, names[c->winner]) && kept->open &&
		   (other == kept || !other->open) && rates_asked == 0 &&
		   strstr(slots[2 - c->winner].trial.reason, c->reason),
	   "%s (the %s)", c->what, got);
}

/* A counter's step is the least of many; one of another kind is tried unless
 * even a step of one cycle would rank it behind, or beside, the best. */
static void check_steps(void)
{
	const long long added = cpuc_kinds[CPUC_OS].added;

	fresh();
	add("uneven", (struct cpuc_counter)CORE(uneven));
	add("other", (struct cpuc_counter)SLOW);
	seldom = added + 2;
	choose(NULL);
	ok(slots[0].trial.step == seldom && slots[1].trial.tried,
	   "a step of %lld: a clock is tried", slots[0].trial.step);
	seldom = added + 1;
	choose(NULL);
	ok(slots[0].trial.step == seldom && !slots[1].trial.tried,
	   "and is not where it cannot win");
	fresh();
	add("kernel", (struct cpuc_counter)OF(CPUC_CORE_KERNEL, uneven));
	choose(NULL);
	ok(slots[0].trial.usable && calls <= MEASURE_CALLS,
	   "what the kernel counts is measured once, by %d calls", calls);
}

/* Where the events are refused nothing else is tried. */
static void check_refused(void)
{
	struct cpuc_counter c = DENIED;
	long long (*const before)(void) = in_trial;

	fresh();
	c.events = refused_pmu = &pmus[0];
	add("refused", c);
	in_trial = NULL;
	ok(!strcmp(choose(NULL), "none") && in_trial == NULL,
	   "events are refused: it is not opened");
	add("fine", (struct cpuc_counter)CORE(fine));
	add("slow", (struct cpuc_counter)SLOW);
	ok(!strcmp(choose("refused"), "fine") && !slots[2].trial.reason[0],
	   "if that was asked for, the others have no such reason");
	in_trial = before;
	refused_pmu = NULL;
}

static void check_signal(int sig, const char *reason, bool hint)
{
	struct cpuc_slot s = {.counter = NULL};

	select_explain_fault(&s, sig);
	ok(strstr(s.trial.reason, reason) && (s.trial.hint != NULL) == hint,
	   "ended by signal %d: \"%s\"%s", sig, s.trial.reason,
	   hint ? ", with a hint" : "");
}

/* In place of registry.c. */
static struct cpuc_clock slow_clock = {
	.tick = slow, .hz = UINT64_C(3000000000), .exact = true};
static struct cpuc_counter registered[] = {
	{.name = "fine", .bits = 32, .read = fine, .events = &pmus[0]},
	{.name = "denied",
	 .bits = 32,
	 .read = fine,
	 .open = open_denied,
	 .events = &pmus[1]},
	{.name = "slow",
	 .kind = CPUC_OS,
	 .read = slow,
	 .clock = &slow_clock,
	 .events = &pmus[2]}};
static const struct cpuc_counter of_instructions = {.name = "denied",
						    .read = fine,
						    .cycles = &registered[1],
						    .events = &pmus[3]};
struct cpuc_slot cpuc_slots[] = {{.counter = &registered[0]},
				 {.counter = &registered[1]},
				 {.counter = &registered[2]}};
const size_t cpuc_slot_count = COUNT(cpuc_slots);
struct cpuc_slot cpuc_instructions_slots[] = {{.counter = &of_instructions}};
const size_t cpuc_instructions_slot_count = 1;

/* Whether the call fails with this errno. */
#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

/* A handler of SIGSYS that interrupts the first selection. */
static void check_inside(void)
{
	struct cpuc_caller caller;
	struct cpucycles_counter c;

	cpuc_lock(&caller);
	ok(cpucycles() == (long long)clock_now &&
		   !strcmp(cpucycles_implementation(), "slow"),
	   "inside: the time, and the name of the last counter");
	ok(cpucycles_persecond() == 0 && cpucycles_observepersecond() == 0 &&
		   cpucycles_instructions() == -1 &&
		   FAILS(cpucycles_select(NULL), EDEADLK) &&
		   FAILS(cpucycles_counter(0, &c, sizeof c), EDEADLK) &&
		   FAILS(cpucycles_instructionscounter(&c, sizeof c), EDEADLK),
	   "no rate and no instructions, and EDEADLK");
	cpuc_unlock(&caller);
}

static const struct cpuc_slot *none;

/* As at first. */
static bool forget(void)
{
	cpuc_current = none;
	cpucycles = cpuc_first;
	instructions_slot = NULL;
	instructions_read = cpuc_first_instructions;
	return true;
}

/* As on a weakly ordered CPU: a thread is in one counter's entry, and sees
 * no slot yet. */
static void check_stale(void)
{
	struct cpuc_slot *s;
	long long got, after;

	fresh();
	s = add("scaled", (struct cpuc_counter)STATED(half, gigahertz));
	choose(NULL);
	forget();
	got = s->reader.entry();
	after = cpucycles();
	ok(got > 0 && got <= after,
	   "an entry that sees no slot yet makes the first call");
}

#define SELECTS(call) (forget(), (void)(call), cpuc_current != none)

static void check_selects(void)
{
	struct cpucycles_counter c;
	long long pair[2];

	none = cpuc_current;
	ok(forget() && !strcmp(cpucycles_implementation(), "fine") &&
		   SELECTS(cpucycles()) && SELECTS(cpucycles_count()) &&
		   SELECTS(cpucycles_kind()) &&
		   SELECTS(cpucycles_persecond()) &&
		   SELECTS(cpucycles_persecondsource()) &&
		   SELECTS(cpucycles_observepersecond()) &&
		   SELECTS(cpucycles_interruptions()) &&
		   SELECTS(cpucycles_instructions()) &&
		   SELECTS(cpucycles_pair(&pair[0], &pair[1])) &&
		   SELECTS(cpucycles_counter(0, &c, sizeof c)) &&
		   SELECTS(cpucycles_counterbyname("slow", &c, sizeof c)) &&
		   SELECTS(cpucycles_instructionscounter(&c, sizeof c)),
	   "functions select if nothing has");
	ok(!SELECTS(cpucycles_version()) && !SELECTS(cpucycles_tracesetup()),
	   "the version and a wish for a trace select nothing");
	trace_wanted = 0;
	cpucycles();
	cpuc_slots[0].trial.hint = "kept";
	cpuc_first();
	ok(cpuc_slots[0].trial.hint != NULL, "and not if something has");
}

static void check_pair(void)
{
	struct cpucycles_counter c;
	long long cycles, instructions;

	fresh();
	forget();
	ok(cpucycles_instructionscounter(&c, sizeof c) == 0 && c.usable,
	   "instructions are described before they are counted");
	forget();
	errno = 4711;
	ok(cpucycles_pair(&cycles, &instructions) == 0 && cycles == 0 &&
		   instructions == 4711 && errno == 4711 &&
		   paired[0] == &pmus[0] && paired[1] == &pmus[3],
	   "a pair, by the events of the counter in use");
	registered[2].events = NULL;
	cpucycles_select("slow");
	pmus[1].opened = cpuc_slots[1].trial.tried = false;
	errno = 4711;
	ok(cpucycles_pair(&cycles, &instructions) == 0 && errno == 4711 &&
		   paired[0] == &pmus[1] && pmus[1].opened,
	   "it has none: those beside the instructions' are opened for it");
	asked_for = "slow";
	cpucycles_select(NULL);
	asked_for = NULL;
	pmus[1].opened = false;
	ok(cpucycles_pair(&cycles, &instructions) == 0 && pmus[1].opened,
	   "also where no other counter was tried");
	refused_pmu = &pmus[3];
	forget();
	ok(FAILS(cpucycles_pair(&cycles, &instructions), ENOTSUP) &&
		   cycles == -1 && instructions == -1,
	   "no instructions, no pair");
	registered[2].events = &pmus[2];
	fresh();
	ok(cpucycles_select(NULL) == 0 && cpucycles_instructions() != -1,
	   "the next selection tries them again");
	forget();
}

/* Which counters count a thread's own cycles, and their scale. */
static void check_description(void)
{
	static const struct {
		enum cpuc_kind kind;
		struct cpuc_event_set *events;
		bool alone, per_thread;
	} rows[] = {
		{CPUC_CORE, &pmus[0], true, true},
		{CPUC_CORE, NULL, true, false},
		{CPUC_CORE_KERNEL, NULL, false, true},
		{CPUC_CALIBRATED, NULL, false, false},
		{CPUC_CALIBRATED, NULL, true, true},
		{CPUC_REFERENCE, NULL, true, false},
	};
	struct cpuc_counter it = {.name = "it"};
	struct cpuc_slot s = {.counter = &it,
			      .trial = {.usable = true, .hint = "do this"}};
	struct cpucycles_counter c;
	size_t i;
	int bad = 0;

	cpuc_calibration.clock = &slow_clock;
	cpuc_calibration.ratio = UINT64_C(3) << 32;
	for (i = 0; i < COUNT(rows); i++) {
		it.kind = rows[i].kind;
		it.events = rows[i].events;
		cpuc_calibration.thread_clock = rows[i].alone;
		it.bits = (unsigned)i % 3 * 16;
		describe(&s, &c, sizeof c);
		bad += c.bits != (it.bits ? it.bits : 64) ||
		       c.per_thread != rows[i].per_thread ||
		       c.scaling != (it.kind == CPUC_CALIBRATED ? 3 : 1) ||
		       strcmp(c.hint, "do this") != 0;
	}
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
	ok(bad == 0, "%d wrong descriptions", bad);
}

static void check_trace(void)
{
	struct cpucycles_counter c;
	char text[sizeof traced];

	cpucycles_tracesetup();
	forget();
	errno = 4711;
	cpucycles();
	ok(errno == 4711 && flushed == 1 &&
		   cpucycles_counter(2, &c, sizeof c) == 0,
	   "a first call with a trace leaves errno alone");
	snprintf(text, sizeof text,
		 "cpucycles tracesetup 0 fine precision 10 "
		 "scaling 1.000000 only32 1\n"
		 "cpucycles tracesetup 1 denied precision 0 "
		 "scaling 0.000000 only32 0\n"
		 "cpucycles tracesetup 2 slow precision %lld "
		 "scaling 0.666667 only32 0\n",
		 c.precision);
	if (!ok(!strcmp(traced, text), "it has a line for each counter"))
		diag("%s", traced);
	cpucycles_tracesetup();
	cpucycles_select(NULL);
	cpucycles_select(NULL);
	ok(strlen(traced) == 2 * strlen(text), "so has a selection, but once");
}

/* Events of no counter but the one in use stay open. */
static void check_public(void)
{
	long long (*before)(void), n;
	struct cpucycles_counter c;

	fresh();
	ok(FAILS(cpucycles_select("denied"), ENOTSUP) && !pmus[1].open,
	   "one that is asked for, and refused, is closed");
	before = in_trial;
	in_trial = NULL;
	ok(cpucycles_select(NULL) == 0 && in_trial == before &&
		   before == cpuc_slots[0].reader.entry && before == cpucycles,
	   "while a counter is tried, the previous one counts");
	registered[1].events = &pmus[0];
	cpucycles_select("fine");
	ok(FAILS(cpucycles_select("denied"), ENOTSUP) && pmus[0].open,
	   "but not events that the counter in use has, too");
	registered[1].events = &pmus[1];
	registered[1].open = NULL;
	ok(cpucycles_select("denied") == 0 && pmus[1].open &&
		   cpuc_slots[1].trial.reason[0] == '\0',
	   "one that is denied no more has no reason left");
	ok(cpucycles_select(NULL) == 0 &&
		   !strcmp(cpucycles_implementation(), "fine") &&
		   pmus[0].open && !cpuc_slots[2].trial.tried,
	   "one that cannot win is not tried");
	ok(cpucycles_counter(2, &c, sizeof c) == 0 && c.usable &&
		   !pmus[2].open && pmus[0].open,
	   "but for its description, and closed then");
	ok(cpucycles_select("slow") == 0 && pmus[2].open && !pmus[0].open,
	   "one that takes its place by name closes its events");
	before = cpucycles;
	ok(cpucycles_select(NULL) == 0 && pmus[0].open &&
		   !cpuc_slots[2].trial.tried,
	   "and the best is back, the other not tried again");
	n = cpucycles();
	ok(before != cpucycles && before() > n && before() < cpucycles(),
	   "a caller that kept the function before counts by that one");
	asked_for = "slow";
	ok(cpucycles_select(NULL) == 0 && cpuc_slots[0].trial.tried &&
		   !cpuc_slots[0].trial.usable &&
		   cpucycles_select((asked_for = NULL)) == 0,
	   "one that was usable is not tried if another is asked for");
	pmus[0].open = pmus[0].opened = false;
	cpuc_first();
	ok(pmus[0].open, "a child that lacks its events selects again");
}

/* A counter of half the rate: 5 ticks from a call to the next are 10 cycles. */
static void check_step(void)
{
	struct cpuc_slot *s;

	fresh();
	s = add("it", (struct cpuc_counter)STATED(half, gigahertz));
	choose(NULL);
	ok(s->trial.step == 10 && cpuc_precision(s) == 110,
	   "a step is in cycles: %lld of a clock of half the rate",
	   s->trial.step);
}

/* Another thread holds the lock, until this one is done or 20 s have passed. */
static int holder_done;
static bool in_vain;

static void *hold(void *unused)
{
	const double end = wall_ns() + 20e9;
	struct cpuc_caller caller;

	cpuc_lock(&caller);
	meet(2);
	while (!__atomic_load_n(&holder_done, __ATOMIC_ACQUIRE) && !in_vain)
		in_vain = wall_ns() > end;
	cpuc_unlock(&caller);
	return unused;
}

static void check_no_lock(void)
{
	long long pair[2];
	pthread_t id;

	fresh();
	cpucycles_select("fine");
	cpucycles_pair(&pair[0], &pair[1]);
	if (pthread_create(&id, NULL, hold, NULL) != 0) {
		skip("no threads");
		return;
	}
	meet(2);
	cpucycles();
	cpucycles_kind();
	cpucycles_implementation();
	cpucycles_interruptions();
	cpucycles_instructions();
	cpucycles_pair(&pair[0], &pair[1]);
	__atomic_store_n(&holder_done, 1, __ATOMIC_RELEASE);
	pthread_join(id, NULL);
	ok(!in_vain, "another thread is selecting: counts and names do not "
		     "wait for it");
}

/* What a selection asks of the system, and leaves there. */
static void check_system(void)
{
	cpuc_rseq_word *word;

	slow_clock = (struct cpuc_clock){.tick = constant};
	cpuc_slots[2].reader.entry = NULL;
	ok(FAILS(cpucycles_select("slow"), ENOTSUP), "a clock stands still");
	slow_clock.tick = slow;
	ok(cpucycles_select("slow") == 0, "and no more in the next selection");
	word = cpuc_rseq_own();
	cpuc_probe_begin();
	cpuc_rseq_prepare();
	cpuc_probe_end();
	ok(cpuc_rseq_own() == word, "a thread's word is found, if it has one");
	ok(cpuc_process != NULL && probes == 0,
	   "children of the same process id are told, and probes have ended");
}

static bool unreadable; /* the chains' clock is */

/* Of two cycles in a ns, as fine() counts them. */
static void works(uint64_t cycles, uint64_t instructions)
{
	(void)instructions;
	if (unreadable)
		real_access();
	clock_now += cycles / 2;
}

static bool turned;

/* The half from now on. */
static long long turning(void)
{
	return turned ? half() : fine();
}

/* What is tried by chains, and what wins then: the first counter, of kind core
 * and perhaps half of the cycles, or the second. */
static void check_proven(void)
{
	const char *got;

	fresh();
	add("first", (struct cpuc_counter)CORE(turning));
	add("second", (struct cpuc_counter)OF(CPUC_REFERENCE, fine));
	windows_made = 0;
	ok(!strcmp(choose(NULL), "first") && windows_made == 0,
	   "where no clock has chains, a counter is believed");
	slow_clock.chains = &pretended_ops[X86_CHAINS];
	got = choose(NULL);
	/* Three of each of two chains. */
	ok(!strcmp(got, "first") && windows_made == 6,
	   "a counter is tried by chains, and wins (%u windows)", windows_made);
	turned = true;
	got = choose(NULL);
	ok(!strcmp(got, "second") &&
		   strstr(slots[0].trial.reason,
			  "counts 3024 of 6048 cycles: a virtual PMU?"),
	   "once it counts a half, another selection prefers the %s: it %s",
	   got, slots[0].trial.reason);
	ok(!strcmp(choose("first"), "second") && !pmus[0].right,
	   "even if it is named; nor does a pair read its events");
	unreadable = true;
	ok(!strcmp(choose(NULL), "first"),
	   "where the chains' clock cannot be read, a counter is believed");
	ok(pmus[0].right, "and so are its events");
	unreadable = turned = false;
	counters[0].read = constant;
	choose(NULL);
	ok(!pmus[0].right, "no pair reads events that stand still");
	counters[0].read = turning;
	counters[0].kind = CPUC_CORE_KERNEL;
	turned = true;
	ok(!strcmp(choose(NULL), "second"),
	   "what is read by system calls is tried, too");
	windows_made = 0;
	counters[0].kind = CPUC_OS;
	choose(NULL);
	ok(windows_made == 0, "no chain runs for clocks");
	slow_clock.chains = NULL;
}

/* The thread's first count by these events on another type of core. */
static const char *on_core(struct cpuc_event_set *events)
{
	unproven = events;
	windows_made = 0;
	cpuc_first_on_core(events);
	return cpucycles_implementation();
}

/* Each PMU is tried when it is first read: that of the counter in use, of the
 * instructions, and of a pair beside another counter. */
static void check_cores(void)
{
	struct cpuc_caller caller;
	bool tried;

	fresh();
	forget();
	turned = false;
	registered[0].read = turning;
	registered[1].open = NULL;
	cpucycles_instructions();
	slow_clock.chains = &pretended_ops[X86_CHAINS];
	ok(!strcmp(on_core(&pmus[0]), "fine") && windows_made > 0 &&
		   unproven == NULL && cpucycles_instructions() != -1,
	   "another type of core: the counter is tried there, and goes on");
	windows_made = 0;
	cpuc_first_on_core(&pmus[0]);
	ok(windows_made == 0, "but not again if another thread was faster");
	cpuc_lock(&caller);
	on_core(&pmus[0]);
	cpuc_unlock(&caller);
	ok(windows_made == 0, "nor inside a selection, which tries it anyway");
	turned = true;
	ok(!strcmp(on_core(&pmus[0]), "denied") &&
		   strstr(cpuc_slots[0].trial.reason, "cycles: a virtual PMU?"),
	   "where it counts a half, the next one is selected: it %s",
	   cpuc_slots[0].trial.reason);
	turned = false;
	cpucycles_select("slow");
	ok(!strcmp(on_core(&pmus[2]), "slow"),
	   "what a program has selected stays");
	instructions_read = cpuc_first_instructions;
	slow_clock.chains = NULL;
	cpucycles_instructions();
	slow_clock.chains = &pretended_ops[X86_CHAINS];
	cpuc_slots[1].trial.usable = pmus[1].right = false;
	tried = !strcmp(on_core(&pmus[1]), "slow") && windows_made > 0;
	ok(tried && pmus[1].right && cpucycles_instructions() != -1,
	   "a pair's cycles are tried, too");
	ok(!strcmp(on_core(&pmus[3]), "slow") && cpucycles_instructions() == -1,
	   "and instructions, which %s",
	   cpuc_instructions_slots[0].trial.reason);
	slow_clock.chains = NULL;
	registered[0].read = fine;
	registered[1].open = open_denied;
	forget();
}

int main(void)
{
	size_t i;

	nominal_rate = 2000000000;
	check_inside();
	check_selects();
	check_stale();
	for (i = 0; i < COUNT(alone); i++)
		check_alone(&alone[i]);
	check_rounds();
	for (i = 0; i < COUNT(contests); i++)
		check_contest(&contests[i]);
	check_steps();
	check_refused();
	check_signal(SIGILL, "SIGILL", false);
	check_signal(SIGSYS, "SIGSYS", true);
	check_signal(SIGFPE, "signal ", false);
	check_description();
	check_trace();
	check_public();
	check_pair();
	check_step();
	check_no_lock();
	check_system();
	check_proven();
	check_cores();
	return done_testing();
}
