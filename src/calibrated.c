/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles.
 *
 * A thread's base (calibrated.h) is a straight line from a tick and its count.
 * A call that finds it stale measures the ratio. It ends the old base at its
 * own tick and begins the new one at a tick that it reads last of all, so that
 * the measurement is in nobody's count.
 *
 * A signal handler may count at any instruction. During the windows it counts
 * on with the old base, however stale: all counts are on one straight line.
 * Such a count may be past the one at which the old base was to end, so the
 * handler marks the measurement as spoilt, and the old line goes on. Once the
 * new base is on offer, the handler puts it in place itself; the interrupted
 * measurement then writes the same values again.
 *
 * A measurement that takes too long may have been abandoned by a handler that
 * left by siglongjmp. The next call finishes it. If it goes on after all, it
 * sees by `serial` that it lost the base. (What remains: a handler that runs
 * for that long within the few instructions that put a base in place, and
 * another one that comes there when the first returns.) */
#include <config.h>
#include <signal.h>
#include <stddef.h>
#include "calibrated.h"
#include "first_call.h"

/* One part of the time in so many goes into measuring. */
#define COST 1024u

/* In ticks: to the next measurement after a change; at most, so that a change
 * is seen in 100 ms; and in which a core gets to a new rate. */
#define SOON (cpuc_calibration.hz / 20000)
#define LONG (cpuc_calibration.hz / 16)
#define RAMP (cpuc_calibration.hz / 1000)

#define WINDOWS 3 /* of a measurement, two of which must be NEAR */
#define BURST 9   /* of one that decides, six of which must be CLOSE */
#define NEAR CPUC_PERMILLE(10) /* to the mean, if the rate has not changed */
#define CLOSE CPUC_PERMILLE(5)
#define MEMORY 16 /* measurements in the mean */
#define MOVED 6   /* on one side of the mean: it has moved; or half as many */

CPUC_THREAD struct cpuc_base cpuc_own_base;

enum calibrated_phase {
	COUNTING,
	MEASURING, /* the base in place goes on, however stale */
	OFFERED,   /* `next` is to be put in place, unless spoilt */
	DECIDED    /* `next` is to be put in place */
};

/* The rest of a thread's state, for the slow path. The child of a fork goes on
 * with its copy. */
struct calibrated_state {
	volatile struct cpuc_base next;
	volatile uint64_t began;     /* the latest measurement */
	volatile uint32_t serial;    /* and its number */
	volatile sig_atomic_t phase; /* enum calibrated_phase */
	volatile sig_atomic_t spoilt;
	uint32_t wait;  /* ticks from the last measurement to the next */
	uint64_t mean;  /* ratio */
	uint64_t last;  /* of the last one */
	uint32_t noise; /* from one to the next, 2^-20 */
	int16_t side;   /* so many in a row above the mean, or below */
	uint16_t known; /* measurements in the mean, up to MEMORY */
};

/* Without memory, and at the very end of a thread, a base goes on for ever. */
static struct calibrated_state calibrated_none;

static CPUC_THREAD struct calibrated_state *calibrated_own;

static uint64_t calibrated_tick(void)
{
	return (uint64_t)cpuc_calibration.ops->tick();
}

/* ticks * ratio for any number of ticks, without 128-bit arithmetic, and for
 * few ticks exactly as the fast path does it. */
static uint64_t ticks_scaled(uint64_t ticks, uint64_t ratio)
{
	uint64_t low = (uint32_t)ticks, fraction = (uint32_t)ratio;

	return (ticks >> 32) * ratio + low * (ratio >> 32) +
	       (low * fraction >> 32);
}

/* Ticks since; 0 where this core's clock is behind the last one's. */
static uint64_t ticks_since(uint64_t tick, uint64_t t)
{
	return (int64_t)(t - tick) < 0 ? 0 : t - tick;
}

static bool ticks_apart(uint64_t a, uint64_t b)
{
	return ticks_since(a, b) >= LONG || ticks_since(b, a) >= LONG;
}

static struct cpuc_base base_own(void)
{
	const volatile struct cpuc_base *own = &cpuc_own_base;
	struct cpuc_base b;

	do {
		b.serial = own->serial;
		b.tick = own->tick;
		b.cycles = own->cycles;
		b.ratio = own->ratio;
		b.due = own->due;
	} while (b.serial != own->serial);
	/* None yet: the line by the process's ratio. */
	if (b.ratio == 0)
		b = (struct cpuc_base){.ratio = cpuc_calibration.ratio,
				       .serial = b.serial};
	return b;
}

/* The count at t. Nobody looked after `due`: the core has had `ratio` since
 * RAMP later. A clock that is further behind than cores are has begun anew, as
 * after a suspend: the base may have given counts up to `due`. */
static uint64_t base_count(const struct cpuc_base *b, uint64_t t,
			   uint64_t ratio)
{
	uint64_t d = ticks_since(b->tick, t), old = b->due + RAMP;

	if (ticks_since(t, b->tick) > LONG)
		d = b->due;
	if (d < old || b->due == 0)
		old = d;
	return b->cycles + ticks_scaled(old, b->ratio) +
	       ticks_scaled(d - old, ratio);
}

/* Puts `next` in place, whoever else has done so. */
static void base_put(const struct calibrated_state *s)
{
	volatile struct cpuc_base *own = &cpuc_own_base;

	own->due = 0;
	own->serial = s->next.serial;
	own->cycles = s->next.cycles;
	own->ratio = s->next.ratio;
	own->tick = s->next.tick;
	own->due = s->next.due;
}

static uint64_t ratio_towards(uint64_t from, uint64_t to, uint32_t parts)
{
	return from + (uint64_t)((int64_t)(to - from) / (int32_t)parts);
}

/* The noise is what measurements differ in from one to the next, which hardly
 * shows a drift; a core that dithers is noisy, and its mean is right. Several
 * on one side of the mean count for more, twice as much if beyond the noise. */
static void ratio_add(struct calibrated_state *s, uint64_t ratio)
{
	uint32_t off = cpuc_apart(ratio, s->mean);
	int side = ratio > s->mean ? 1 : -1;

	if (s->known < MEMORY)
		s->known++;
	s->noise = (uint32_t)ratio_towards(s->noise, cpuc_apart(ratio, s->last),
					   s->known);
	if (s->side * side < 0)
		s->side = 0;
	if (off > s->noise + s->noise / 4 + cpuc_calibration.grain / 4)
		side *= 2;
	if (s->side < MOVED && s->side > -MOVED)
		s->side = (int16_t)(s->side + side);
	if ((s->side >= MOVED || s->side <= -MOVED) && s->known > 2)
		s->known = 2;
	s->mean = ratio_towards(s->mean, ratio, s->known);
	s->last = ratio;
	__atomic_store_n(&cpuc_calibration.recent,
			 (uint32_t)(s->mean >> CPUC_RECENT_BITS),
			 __ATOMIC_RELAXED);
}

static void ratio_begin(struct calibrated_state *s, uint64_t ratio)
{
	s->known = 1;
	s->mean = s->last = ratio;
	s->noise = 0;
	s->side = 0;
}

/* Measures; the number of windows that it took. *changed says whether the
 * thread is fresh, or its core's rate another one than before. */
static unsigned ratio_measure(struct calibrated_state *s, uint64_t t,
			      bool *changed)
{
	uint64_t ratio =
		__atomic_load_n(&cpuc_calibration.recent, __ATOMIC_RELAXED);

	if (s->known == 0) {
		*changed = true;
		ratio_begin(s, ratio << CPUC_RECENT_BITS);
		/* The thread that calibrated has just made its windows. */
		if (t - cpuc_calibration.tick < cpuc_calibration.span)
			return WINDOWS;
	}
	ratio = cpuc_windows(WINDOWS, 2, NEAR);
	if (ratio == 0)
		return WINDOWS;
	if (cpuc_apart(ratio, s->mean) <= NEAR + s->noise) {
		ratio_add(s, ratio);
		return WINDOWS;
	}
	ratio = cpuc_windows(BURST, 6, CLOSE);
	if (ratio != 0) {
		*changed = true;
		ratio_begin(s, ratio);
	}
	return WINDOWS + BURST;
}

/* The usual number of ticks from one measurement to the next, by its cost. */
static uint64_t wait_most(unsigned windows)
{
	uint64_t most = (uint64_t)windows * cpuc_calibration.span * COST;

	return most < LONG ? most : LONG;
}

/* After a change few, then twice as many each time, up to the usual. */
static uint32_t wait_next(struct calibrated_state *s, unsigned windows,
			  bool soon)
{
	uint64_t most = wait_most(windows);
	uint64_t wait = soon ? SOON : 2 * (uint64_t)s->wait;

	s->wait = (uint32_t)(wait < most ? wait : most);
	return s->wait;
}

static bool measure_offered(const struct calibrated_state *s)
{
	return s->phase == DECIDED || (s->phase == OFFERED && !s->spoilt);
}

/* A handler's count in the midst of a measurement. */
static uint64_t measure_nested(struct calibrated_state *s, uint64_t t)
{
	struct cpuc_base b;

	if (measure_offered(s)) {
		base_put(s);
		b = s->next;
	} else {
		s->spoilt = 1;
		b = base_own();
	}
	return base_count(&b, t, b.ratio);
}

/* The line of base b goes on, from now. Nobody was given more at this tick: a
 * cycle for the fractions. */
static void measure_spoilt(struct calibrated_state *s, struct cpuc_base b,
			   uint32_t serial)
{
	uint64_t t = calibrated_tick();

	s->next.cycles = base_count(&b, t, b.ratio) + 1;
	s->next.ratio = b.ratio;
	s->next.serial = serial;
	s->next.due = s->wait;
	s->next.tick = t;
	s->phase = DECIDED;
}

/* The end of a measurement: puts `next` in place, unless another call has taken
 * over and put its own there, which is then the latest `next` too. */
static bool measure_end(struct calibrated_state *s, uint32_t serial)
{
	bool own = s->serial == serial;

	if (own)
		base_put(s);
	if (own && s->serial != serial)
		base_put(s);
	s->phase = COUNTING;
	return own;
}

/* Finishes a measurement that was abandoned. */
static void measure_abandoned(struct calibrated_state *s)
{
	uint32_t serial = s->serial + 1;

	s->serial = serial;
	s->began = calibrated_tick();
	if (s->phase == COUNTING)
		return;
	if (!measure_offered(s)) {
		s->spoilt = 1;
		measure_spoilt(s, base_own(), serial);
	}
	measure_end(s, serial);
}

/* Measures with a base that is stale at tick t. False: another call did. */
static bool measure_own(struct calibrated_state *s, const struct cpuc_base *b,
			uint64_t *t)
{
	uint32_t serial = s->serial + 1;
	bool changed = ticks_since(b->tick, *t) > b->due + wait_most(WINDOWS);
	unsigned windows;

	s->serial = serial;
	s->began = *t;
	s->spoilt = 0;
	s->phase = MEASURING;
	if (s->serial != serial || base_own().serial != b->serial)
		goto lost;
	windows = ratio_measure(s, *t, &changed);
	if (s->serial != serial)
		goto lost;
	/* At odd times, so as not to keep step with anything. */
	s->next.due = wait_next(s, windows, changed);
	s->next.due -= (uint32_t)*t % (s->next.due / 8 + 1);
	s->next.cycles = base_count(b, *t, s->mean);
	s->next.ratio = s->mean;
	s->next.serial = serial;
	s->next.tick = calibrated_tick();
	s->phase = OFFERED;
	if (s->spoilt)
		measure_spoilt(s, *b, serial);
	*t = s->next.cycles;
	return measure_end(s, serial);
lost:
	s->phase = COUNTING;
	return false;
}

static void calibrated_ended(void *state, bool last)
{
	if (last && calibrated_own == state)
		calibrated_own = &calibrated_none;
}

/* A handler that comes here too leaves a state of its own, which lasts until
 * the thread's end. */
static struct calibrated_state *calibrated_begin(uint64_t t)
{
	volatile struct cpuc_base *own = &cpuc_own_base;
	struct calibrated_state *s =
		cpuc_thread_memory(sizeof *s, calibrated_ended);

	if (s != NULL) {
		s->serial = base_own().serial;
	} else {
		s = &calibrated_none;
		/* The same line, the quick way for a while. A handler sees it
		 * from `ratio` on. */
		own->tick = t;
		own->cycles = ticks_scaled(t, cpuc_calibration.ratio);
		own->ratio = cpuc_calibration.ratio;
		own->due = (uint32_t)LONG;
	}
	calibrated_own = s;
	return s;
}

uint64_t cpuc_calibrated_slow(uint64_t t)
{
	struct calibrated_state *s = calibrated_own;
	struct cpuc_base b;

	/* Orders the calibration after the caller's load of cpucycles on
	 * weakly ordered CPUs; a thread's first call always comes here. */
	if (__atomic_load_n(&cpuc_calibration.ops, __ATOMIC_ACQUIRE) == NULL)
		return (uint64_t)cpuc_first();
	if (s == NULL)
		s = calibrated_begin(t);
	for (;; t = calibrated_tick()) {
		b = base_own();
		if (s == &calibrated_none)
			return b.cycles +
			       ticks_scaled(ticks_since(b.tick, t), b.ratio);
		if (s->phase != COUNTING) {
			if (!ticks_apart(s->began, t))
				return measure_nested(s, t);
			measure_abandoned(s);
			continue;
		}
		/* A handler measured after the caller read its tick. */
		if (ticks_since(t, b.tick) > 0)
			t = calibrated_tick();
		if (t - b.tick < b.due)
			return base_count(&b, t, b.ratio);
		if (measure_own(s, &b, &t))
			return t;
	}
}
