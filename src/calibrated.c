/* SPDX-License-Identifier: 0BSD */
/* A thread's count of core cycles.
 *
 * A call that finds its line stale, or the thread interrupted, ends that line
 * at its own tick, measures if it is time for that, and begins the next line at
 * a tick that it reads last of all. So nothing of this is in anybody's count.
 *
 * A signal handler may count at any instruction. During a measurement it counts
 * on with the old line, however stale. Such a count may be past the one at
 * which that line was to end, so the handler marks the measurement as spoilt,
 * and the old line goes on. Once the next line is on offer, the handler puts it
 * in place itself; the interrupted measurement then does so again.
 *
 * A measurement that takes too long may have been abandoned by a handler that
 * left by siglongjmp. The next call finishes it. If it goes on after all, it
 * sees by `serial` that another one has taken over. (What remains: a handler
 * that runs for that long within the few instructions that set a line or put it
 * in place, and measures a multiple of LINES times, or is followed by another
 * one there.) */
#include <config.h>
#include <signal.h>
#include <stddef.h>
#include "calibrated.h"
#include "clock.h"
#include "first_call.h"

/* How often to look at the thread's clock, in ticks, as kernels need not tell
 * of waits. */
#define LOOK (uint32_t)(cpuc_calibration.hz / 250)

#define LINES 16

enum calibrated_phase {
	COUNTING,
	MEASURING, /* the line in place goes on, however stale */
	OFFERED,   /* the line of `serial` takes its place, unless spoilt */
	DECIDED    /* takes its place */
};

/* A thread's state, for the slow path. The child of a fork goes on with its
 * copy. */
struct calibrated_state {
	struct cpuc_line line[LINES]; /* that of a serial: modulo LINES */
	uintptr_t no_word;
	const uint32_t *process;     /* cpuc_process_word() of `ran`s */
	uint32_t cpu;                /* that the ratio was measured on */
	volatile uint64_t began;     /* the latest measurement */
	volatile uint32_t serial;    /* and its number */
	volatile sig_atomic_t phase; /* enum calibrated_phase */
	volatile sig_atomic_t spoilt;
	struct cpuc_ratio ratio;
};

/* Without memory, and at the very end of a thread: the ticks by the process's
 * ratio, and so much more. */
static struct cpuc_line calibrated_none;
static CPUC_THREAD uint64_t calibrated_more;

CPUC_THREAD struct cpuc_line *cpuc_own_line = &calibrated_none;

static uint64_t calibrated_tick(void)
{
	return (uint64_t)cpuc_calibration.ops->tick();
}

static bool ticks_apart(uint64_t a, uint64_t b)
{
	return cpuc_line_since(a, b) >= CPUC_RATIO_LONG ||
	       cpuc_line_since(b, a) >= CPUC_RATIO_LONG;
}

/* ns; 0 where no word tells when to look. */
static uint64_t thread_clock(const struct calibrated_state *s)
{
	return s->line->word != &s->no_word ? cpuc_clock_thread_ns() : 0;
}

static struct cpuc_line *line_of(struct calibrated_state *s, uint32_t serial)
{
	return &s->line[serial % LINES];
}

static void line_put(struct cpuc_line *l)
{
	CPUC_FENCE();
	*(struct cpuc_line *volatile *)&cpuc_own_line = l;
}

/* The line in place. */
static struct cpuc_line line_own(const struct calibrated_state *s)
{
	struct cpuc_line *const volatile *own = &cpuc_own_line;
	const struct cpuc_line *from;
	struct cpuc_line l;

	do {
		from = *own;
		l = *from;
		CPUC_FENCE();
	} while (from != *own || l.serial != from->serial);
	/* None yet: by the process's ratio. */
	if (l.ratio == 0)
		l.ratio = cpuc_calibration.ratio;
	/* A child's clock begins at 0. Its parent may have run until `due`. */
	if (s->process != NULL && *s->process == 0)
		l.ran = 0 - (l.tick - l.at + l.due) * UINT64_C(1000000000) /
				    cpuc_calibration.hz;
	return l;
}

static uint64_t count_at(const struct cpuc_line *l,
			 const struct cpuc_instant *i, uint64_t ratio)
{
	return cpuc_line_count(l, i, ratio, cpuc_own_line->last);
}

static bool measure_offered(const struct calibrated_state *s)
{
	return s->phase == DECIDED || (s->phase == OFFERED && !s->spoilt);
}

/* A handler's count in the midst of a measurement. */
static uint64_t measure_nested(struct calibrated_state *s, uint64_t t)
{
	struct cpuc_instant now = {t, thread_clock(s), true};
	struct cpuc_line l;

	if (measure_offered(s))
		line_put(line_of(s, s->serial));
	else
		s->spoilt = 1;
	l = line_own(s);
	return count_at(&l, &now, l.ratio);
}

/* Arms the word for the next line, and reads the thread's clock, which tells of
 * all that came before. */
static void next_look(struct calibrated_state *s, struct cpuc_line *next)
{
	next->ran = thread_clock(s);
	if (next->ran != 0) {
		next->at = calibrated_tick();
		s->process = cpuc_process_word();
	}
	next->armed = cpuc_rseq_arm(next->word);
}

/* The next line, after l, begins at *now. */
static void next_begin(struct calibrated_state *s, struct cpuc_line *next,
		       const struct cpuc_line *l, struct cpuc_instant *now)
{
	now->ran = 0;
	if (now->interrupted || now->tick - l->at >= LOOK) {
		next_look(s, next);
		now->ran = next->ran;
	} else {
		next->ran = l->ran;
		next->at = l->at;
		next->armed = cpuc_rseq_arm(next->word);
	}
}

/* The next line from tick t on, about, by this ratio. It is due at the next
 * measurement, or look at the thread's clock. */
static void next_set(const struct calibrated_state *s, struct cpuc_line *next,
		     uint64_t t, uint64_t cycles, uint64_t ratio)
{
	uint32_t left = cpuc_ratio_left(&s->ratio, t), age;

	if (next->ran != 0) {
		age = (uint32_t)cpuc_line_since(next->at, t);
		left = left + age < LOOK ? left : LOOK - age;
	}
	next->due = left > 0 ? left : 1;
	next->cycles = next->last = cycles;
	next->ratio = ratio;
}

/* Line l goes on, from now. Nobody was given more at this tick: a cycle for the
 * fractions. */
static void measure_spoilt(struct calibrated_state *s, struct cpuc_line *next,
			   const struct cpuc_line *l)
{
	struct cpuc_instant now = {.interrupted = true};

	next_begin(s, next, l, &now);
	now.tick = next->tick = calibrated_tick();
	next_set(s, next, now.tick, count_at(l, &now, l->ratio) + 1, l->ratio);
	CPUC_FENCE();
	s->phase = DECIDED;
}

/* The end of a measurement: its line takes its place, unless another call has
 * taken over. */
static bool measure_end(struct calibrated_state *s, uint32_t serial)
{
	bool own = s->serial == serial;

	if (own)
		line_put(line_of(s, serial));
	if (own && s->serial != serial)
		line_put(line_of(s, s->serial));
	s->phase = COUNTING;
	return own;
}

/* Finishes a measurement that was abandoned. */
static void measure_abandoned(struct calibrated_state *s)
{
	uint32_t serial = s->serial + 1;
	struct cpuc_line *next = line_of(s, serial), l;

	s->serial = serial;
	s->began = calibrated_tick();
	if (s->phase == COUNTING)
		return;
	if (measure_offered(s)) {
		*next = *line_of(s, serial - 1);
	} else {
		s->spoilt = 1;
		l = line_own(s);
		measure_spoilt(s, next, &l);
	}
	next->serial = serial;
	measure_end(s, serial);
}

/* Replaces line l at tick t, if it is time for that by a measurement, and gives
 * the count at t. False: another call did. */
static bool measure_own(struct calibrated_state *s, const struct cpuc_line *l,
			uint64_t *t, bool interrupted)
{
	uint32_t serial = s->serial + 1;
	uint64_t usual = l->due + cpuc_ratio_usual();
	struct cpuc_line *next = line_of(s, serial);
	struct cpuc_instant now;

	s->serial = serial;
	s->began = *t;
	s->spoilt = 0;
	s->phase = MEASURING;
	if (s->serial != serial || line_own(s).serial != l->serial)
		goto lost;
	now = (struct cpuc_instant){*t, 0, interrupted};
	next->serial = serial;
	next_begin(s, next, l, &now);
	if (l->due == 0 || cpuc_ratio_left(&s->ratio, *t) == 0) {
		cpuc_ratio_measure(&s->ratio, *t,
				   cpuc_line_since(l->tick, *t) > usual);
		if (*next->word != next->armed)
			next_look(s, next);
		s->cpu = cpuc_rseq_cpu();
	} else if (s->cpu != cpuc_rseq_cpu()) {
		cpuc_ratio_moved(&s->ratio, *t);
	}
	if (s->serial != serial)
		goto lost;
	*t = count_at(l, &now, s->ratio.mean);
	next_set(s, next, now.tick, *t, s->ratio.mean);
	next->tick = calibrated_tick();
	CPUC_FENCE();
	s->phase = OFFERED;
	if (s->spoilt) {
		measure_spoilt(s, next, l);
		*t = next->cycles;
	}
	return measure_end(s, serial);
lost:
	s->phase = COUNTING;
	return false;
}

/* Without reading the clock, which may be forbidden by now. */
static void calibrated_ended(void *state, bool last)
{
	const struct cpuc_line *own = cpuc_own_line;

	if (!last || own->of != state)
		return;
	calibrated_more = own->last -
			  cpuc_ratio_scaled(own->tick, cpuc_calibration.ratio);
	line_put(&calibrated_none);
}

/* As before the thread's first count; the line to begin with. */
static struct cpuc_line *state_begin(struct calibrated_state *s,
				     uint32_t serial)
{
	cpuc_rseq_word *word = cpuc_rseq_own();
	int i;

	*s = (struct calibrated_state){.serial = serial};
	for (i = 0; i < LINES; i++) {
		s->line[i].word = word ? word : &s->no_word;
		s->line[i].of = s;
	}
	line_of(s, serial)->serial = serial;
	return line_of(s, serial);
}

/* A handler that comes here too leaves a state, which lasts until the thread's
 * end. */
static struct cpuc_line *calibrated_begin(void)
{
	struct calibrated_state *s =
		cpuc_thread_memory(sizeof *s, calibrated_ended);
	struct cpuc_line *own = &calibrated_none, *first;

	if (s == NULL)
		return own;
	first = state_begin(s, 0);
	if (__atomic_compare_exchange_n(&cpuc_own_line, &own, first, false,
					__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		own = first;
	return own;
}

static uint64_t calibrated_count(struct calibrated_state *s, uint64_t t)
{
	struct cpuc_line l;
	bool interrupted;

	for (;; t = calibrated_tick()) {
		l = line_own(s);
		if (s->phase != COUNTING) {
			if (!ticks_apart(s->began, t))
				return measure_nested(s, t);
			measure_abandoned(s);
			continue;
		}
		/* A handler measured after the caller read its tick. */
		if (cpuc_line_since(t, l.tick) > 0)
			t = calibrated_tick();
		interrupted = *l.word != l.armed;
		if (interrupted && l.armed != 0)
			cpuc_rseq_interrupted();
		if (!interrupted && t - l.tick < l.due)
			return count_at(&l, &(struct cpuc_instant){.tick = t},
					l.ratio);
		if (measure_own(s, &l, &t, interrupted))
			return t;
	}
}

uint64_t cpuc_calibrated_slow(uintptr_t armed, uint64_t d)
{
	struct cpuc_line *own = cpuc_own_line;
	uint64_t t = own->tick + d;

	/* Orders the calibration after the caller's load of cpucycles on
	 * weakly ordered CPUs; a thread's first call always comes here. */
	if (__atomic_load_n(&cpuc_calibration.ops, __ATOMIC_ACQUIRE) == NULL)
		return (uint64_t)cpuc_first();
	/* A handler may have replaced the base. */
	CPUC_FENCE();
	if (own->armed != armed)
		t = calibrated_tick();
	if (own == &calibrated_none)
		own = calibrated_begin();
	if (own == &calibrated_none)
		return cpuc_ratio_scaled(t, cpuc_calibration.ratio) +
		       calibrated_more;
	t = calibrated_count(own->of, t);
	cpuc_own_line->last = t;
	return t;
}
