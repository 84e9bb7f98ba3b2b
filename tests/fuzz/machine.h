/* SPDX-License-Identifier: 0BSD */
/* A pretended machine, described by bytes: counters that do right or wrong on
 * a clock that passes as it is read. Replaces registry.c and perf/available.c;
 * count.c is included, for what it remembers. */
#ifndef MACHINE_H
#define MACHINE_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include "rate/clock.h"
#include "cpucycles.h"
#include "first_call.h"
#include "perf/available.h"
#include "registry.h"
#include "select.h"
#include "fuzz.h"
#include "../faults/real.h"
#include "../../src/calibrated/count.c"
#include "../forget.h"
#include "../pretended_clock.h"
#include "../pretended_rate.h"

#define COUNTERS 6 /* and default-zero, the last */
#define SLOTS (COUNTERS + 1)

/* Run millions of times in a case, and of no interest to the fuzzer. */
#ifdef __clang__
#define QUICK __attribute__((no_sanitize("coverage", "address", "undefined")))
#else
#define QUICK
#endif

enum behaviour {
	FINE,
	BY_CALLS,    /* advances by calls, and not by time */
	STUCK,       /* always the same */
	STUCK_LATER, /* after `when` reads */
	BACK_ONCE,   /* a jump back at read `when` */
	BACK_OFTEN,  /* at each `when` reads */
	JUMPS,       /* forwards, at each `when` reads */
	FAULTS,      /* at read `when` */
	BEHAVIOURS
};

enum opening {
	OPENS = 3, /* up to here */
	DENIED,    /* with a reason */
	MUTE,      /* with an error alone */
	OPEN_FAULTS,
	OPENINGS = 8 /* from here on as OPENS */
};

/* A counter's behaviour; the rest of it is in counters[]. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in order. */
static struct fake {
	enum behaviour behaviour;
	enum behaviour tried_as; /* when it was opened */
	unsigned when;
	enum opening opening;
	bool access;     /* the fault: SIGSEGV, or that of a trap */
	uint64_t rate;   /* true ticks per second */
	uint64_t stated; /* what open states; 0: nothing */
	uint64_t offset; /* its value at time 0, about */
	unsigned cost;   /* ns that a read takes */
	unsigned step;   /* it counts by so many */
	unsigned reads;  /* since open */
	unsigned opens, closes;
	bool is_open, changed;
} fakes[SLOTS];

static struct {
	uint64_t ns;    /* the time */
	unsigned cost;  /* of reading the clock, ns */
	unsigned grain; /* the clock shows multiples of it, ns */
	bool stopped;
	double core; /* cycles per ns */
} machine;

static struct cpuc_counter counters[SLOTS];
static struct cpuc_clock clocks[SLOTS];
struct cpuc_slot cpuc_slots[SLOTS];
const size_t cpuc_slot_count = SLOTS;
struct cpuc_slot cpuc_instructions_slots[1];
const size_t cpuc_instructions_slot_count = 0;

QUICK static uint64_t shown(void)
{
	return machine.stopped ? 1 : machine.ns / machine.grain * machine.grain;
}

QUICK uint64_t cpuc_os_clock_ns(void)
{
	machine.ns += machine.cost;
	return shown();
}

uint64_t cpuc_os_clock_us(void)
{
	return cpuc_os_clock_ns() / 1000;
}

/* Faults come only where the engine catches them, which nobody else does with
 * this signal. */
static void fault(const struct fake *f)
{
	struct sigaction now;

	sigaction(SIGTRAP, NULL, &now);
	if (now.sa_handler == SIG_DFL || counters[f - fakes].kind == CPUC_OS)
		return;
	if (f->access)
		real_access();
	real_trap();
}

QUICK static uint64_t ticks(const struct fake *f)
{
	uint64_t ns = machine.ns, n;

	n = ns / 1000000000 * f->rate + ns % 1000000000 * f->rate / 1000000000;
	return n / f->step * f->step + f->offset;
}

QUICK static long long read_fake(struct fake *f)
{
	uint64_t n;

	f->reads++;
	machine.ns += f->cost;
	n = ticks(f);
	switch (f->behaviour) {
	case BY_CALLS:
		n = f->offset + (uint64_t)f->reads * f->step;
		break;
	case STUCK:
		n = f->offset;
		break;
	case STUCK_LATER:
		n = f->reads > f->when ? f->offset : n;
		break;
	case BACK_ONCE:
		n -= f->reads == f->when ? UINT64_C(1) << 30 : 0;
		break;
	case BACK_OFTEN:
		n -= f->reads % f->when == 0 ? UINT64_C(1) << 30 : 0;
		break;
	case JUMPS:
		machine.ns += f->reads % f->when == 0 ? 3000000 : 0;
		n = ticks(f);
		break;
	case FAULTS:
		if (f->reads >= f->when)
			fault(f);
		break;
	default:
		break;
	}
	return (long long)n;
}

/* Readers have no argument: one a slot. */
#define READERS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define READER(i)                                      \
	QUICK static long long tick##i(void)           \
	{                                              \
		return read_fake(&fakes[i]);           \
	}                                              \
	QUICK static long long core##i(void)           \
	{                                              \
		return (long long)cpuc_count(tick##i); \
	}                                              \
	static uint64_t stated##i(void)                \
	{                                              \
		return fakes[i].stated;                \
	}
READERS(READER)
#define OF(i) {tick##i, core##i, stated##i},
static const struct {
	long long (*tick)(void), (*core)(void);
	uint64_t (*stated)(void);
} readers[] = {READERS(OF)};

static long long read_zero(void)
{
	return 0;
}

/* The core, for calibrated counters. */
static long long (*fake_clock)(void);

static uint64_t run_fake(double cycles)
{
	machine.ns += (uint64_t)(cycles / machine.core);
	return (uint64_t)fake_clock();
}

static void window_fake(uint32_t turns, uint64_t stamp[3])
{
	stamp[0] = run_fake(18 + 64);
	stamp[1] = run_fake(18 + 64 * (double)turns);
	stamp[2] = run_fake(18 + 512 * (double)turns);
}

static const struct cpuc_chain fake_chain[] = {{window_fake, 448, "a"},
					       {window_fake, 448, "b"}};
static const struct cpuc_chain_ops fake_ops = {fake_chain, 2, 0};

static int open_fake(struct cpuc_slot *slot)
{
	struct fake *f = &fakes[slot - cpuc_slots];

	f->opens++;
	f->reads = 0;
	f->tried_as = f->behaviour;
	switch (f->opening) {
	case DENIED:
		cpuc_reason(slot, "denied by the machine");
		return -EACCES;
	case MUTE:
		return -ENOENT;
	case OPEN_FAULTS:
		fault(f);
		return -EFAULT;
	default:
		return 0;
	}
}

/* In place of perf/available.c: a counter's events, if any, are its fake. */
int cpuc_perf_try(struct cpuc_slot *slot, struct cpuc_event_set *pmu)
{
	(void)slot;
	if (pmu != NULL)
		((struct fake *)pmu)->is_open = true;
	return 0;
}

void cpuc_perf_close(struct cpuc_event_set *pmu)
{
	struct fake *f = (struct fake *)pmu;

	if (pmu == NULL)
		return;
	f->closes++;
	f->is_open = false;
}

/* One counter, of seven bytes. */
static void build(size_t i, struct fuzz_bytes *b)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
	static const uint64_t rates[] = {32768,      1000000,   24000000,
					 100000000,  512000000, 1000000000,
					 2000000000, 3999999999};
	/* No clock comes to 2^64. */
	static const uint64_t tops[] = {UINT64_C(1) << 31, UINT64_C(1) << 32,
					UINT64_C(1) << 33, UINT64_C(1) << 47,
					UINT64_C(1) << 48, UINT64_C(1) << 62,
					UINT64_C(1) << 63};
	static const unsigned whens[] = {1, 2, 3, 17, 300, 900, 1000, 5000};
	struct fake *f = &fakes[i];
	enum { CYCLE, NOMINAL, TICK, TIME } unit;
	uint8_t x = fuzz_byte(b), y = fuzz_byte(b), z;

	unit = x >> 3 & 3;
	counters[i] = (struct cpuc_counter){
		.name = names[i],
		.kind = (enum cpuc_kind)(x % (CPUC_ZERO + 1)),
		.open = open_fake,
		.events = x & 0x40 ? NULL : (struct cpuc_event_set *)&fakes[i],
	};
	f->behaviour = (enum behaviour)(y % BEHAVIOURS);
	f->opening = (enum opening)(y >> 3 & (OPENINGS - 1));
	z = fuzz_byte(b);
	f->access = z & 1;
	f->when = whens[z >> 3 & 7];
	z = fuzz_byte(b);
	f->rate = rates[z & 7] + (uint64_t)(z >> 3 & 3) * 12345;
	z = fuzz_byte(b);
	if (z & 1)
		f->stated = f->rate;
	else if (z & 2)
		f->stated = z == 0xfe ? UINT64_MAX : (uint64_t)z * z * z * z;
	z = fuzz_byte(b);
	f->step = 1 + (z >> 3);
	/* It comes to that in a millisecond. */
	if (z & 7)
		f->offset = tops[(z & 7) - 1] - ticks(f) - f->rate / 1000;
	f->cost = 1u + fuzz_byte(b);
	counters[i].read = readers[i].tick;
	/* A process is calibrated once, and a host one such counter. */
	if (counters[i].kind == CPUC_CALIBRATED && fake_clock != NULL)
		counters[i].kind = CPUC_REFERENCE;
	switch (counters[i].kind) {
	case CPUC_CALIBRATED:
		fake_clock = readers[i].tick;
		counters[i].read = readers[i].core;
		unit = TICK;
		break;
	case CPUC_OS:
		unit = TIME;
		break;
	case CPUC_ZERO:
		/* Its descriptor is true, but for hardware's errors. */
		counters[i].read = read_zero;
		unit = CYCLE;
		break;
	default:
		break;
	}
	if (unit != CYCLE)
		counters[i].clock = &clocks[i];
	clocks[i] = (struct cpuc_clock){.tick = readers[i].tick,
					.nominal = unit == NOMINAL};
	if (unit == TIME) {
		f->stated = f->rate;
		clocks[i].hz = f->rate;
		clocks[i].exact = true;
	} else if (f->stated != 0) {
		clocks[i].stated = readers[i].stated;
	}
	if (counters[i].kind == CPUC_CALIBRATED)
		clocks[i].chains = &fake_ops;
	cpuc_slots[i] = (struct cpuc_slot){.counter = &counters[i]};
}

/* Everything as in a process that has not counted. */
static void build_machine(struct fuzz_bytes *b)
{
	static const struct cpuc_slot *unselected;
	static const unsigned grains[] = {1, 1, 1, 10, 100, 1000, 41, 10000000};
	static const char *const names[] = {
		NULL, NULL, NULL, "a", "b", "c", "default-zero", "nonsense"};
	uint8_t x = fuzz_byte(b), y = fuzz_byte(b);
	size_t i;

	if (unselected == NULL)
		unselected = cpuc_current;
	cpuc_current = unselected;
	cpucycles = cpuc_first;
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
	calibrated_forget();
	memset(fakes, 0, sizeof fakes);
	fake_clock = NULL;
	machine.ns = UINT64_C(1000000000) << (x & 7);
	machine.grain = grains[x >> 3 & 7];
	machine.stopped = x >> 6 == 3;
	machine.cost = 1 + y % 128;
	asked_for = names[y >> 5];
	x = fuzz_byte(b);
	nominal_rate = x & 1 ? 2000000000 : UINT64_C(1000000) << (x >> 4);
	machine.core = 0.5 + (x >> 1 & 7) * 0.55;
	for (i = 0; i < COUNTERS; i++)
		build(i, b);
	counters[COUNTERS] = (struct cpuc_counter){
		.name = "default-zero", .kind = CPUC_ZERO, .read = read_zero};
	cpuc_slots[COUNTERS] =
		(struct cpuc_slot){.counter = &counters[COUNTERS]};
}

#endif
