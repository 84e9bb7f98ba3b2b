/* SPDX-License-Identifier: 0BSD */
/* Tries counters, measures them and chooses the one to count with. */
#include <config.h>
#include <signal.h>
#include <string.h>
#include "calibrated/calibrate.h"
#include "calibrated/proof.h"
#include "rate/clock.h"
#include "perf/perf.h"
#include "rate/persecond.h"
#include "registry.h"
#include "select.h"
#include "system/probe.h"

#define MEASURE_CALLS 1000
#define MEASURE_ROUNDS 10
/* After this many cycles MEASURE_LEAST calls are enough: each traps. */
#define MEASURE_LEAST 50
#define MEASURE_CYCLES 4000000

/* The smallest nonzero step. 0: the count never advanced; < 0: it went back. */
static long long measure_round(const struct cpuc_slot *slot)
{
	const uint64_t first = (uint64_t)cpuc_slot_read(slot);
	uint64_t last = first, now;
	long long step, least = 0;
	int i;

	for (i = 1; i < MEASURE_LEAST ||
		    (i < MEASURE_CALLS && last - first < MEASURE_CYCLES);
	     i++) {
		now = (uint64_t)cpuc_slot_read(slot);
		/* Modulo 2^64, so that no pair of counts overflows. */
		step = (long long)(now - last);
		last = now;
		if (step < 0)
			return step;
		if (step > 0 && (least == 0 || step < least))
			least = step;
	}
	return least;
}

static int measure_slot(struct cpuc_slot *slot)
{
	long long step = 0;
	int i;

	/* One bad round may be due to a migration between cores. */
	for (i = 0; i < MEASURE_ROUNDS && step <= 0; i++)
		step = measure_round(slot);
	if (step <= 0)
		return cpuc_reason(slot,
				   step < 0 ? "the count goes backwards"
					    : "the count does not advance");
	slot->trial.step = step;
	return 0;
}

static void select_explain_fault(struct cpuc_slot *slot, int sig)
{
	if (sig == SIGILL) {
		cpuc_reason(slot, "SIGILL: this CPU lacks the instruction, or "
				  "the kernel keeps it from programs");
	} else if (sig == SIGSEGV) {
		cpuc_reason(slot, "SIGSEGV: the kernel keeps the instruction "
				  "from programs");
	} else if (sig == SIGSYS) {
		cpuc_reason(slot, "SIGSYS: a system call that it needs is "
				  "denied (container?)");
		slot->trial.hint = "its seccomp profile must allow it";
	} else {
		cpuc_reason(slot, "signal %d when it was tried", sig);
	}
}

/* Makes the reader, once per process. */
static int select_reader(struct cpuc_slot *slot, uint64_t nominal_hz)
{
	const struct cpuc_counter *c = slot->counter;
	int err = 0;

	if (slot->reader.entry != NULL)
		return 0;
	if (c->kind == CPUC_CALIBRATED)
		err = cpuc_calibrate(slot);
	else if (c->clock != NULL &&
		 !cpuc_clock_scale(c->clock, nominal_hz, &slot->reader.scale))
		err = cpuc_reason(slot, CPUC_CLOCK_UNMEASURED);
	if (err == 0)
		cpuc_compose(slot);
	return err;
}

struct attempt {
	struct cpuc_slot *slot;
	uint64_t nominal_hz;
};

/* All that may fault. */
static void select_attempt(void *arg)
{
	const struct attempt *a = arg;
	struct cpuc_slot *slot = a->slot;
	const struct cpuc_counter *c = slot->counter;
	int err = cpuc_perf_try(slot, c->events);

	if (err == 0 && c->open)
		err = c->open(slot);
	if (err == 0)
		err = select_reader(slot, a->nominal_hz);
	if (err == 0 && c->kind != CPUC_ZERO)
		err = measure_slot(slot);
	slot->trial.usable = err == 0;
}

/* By this architecture's chains, which some counter's clock has. */
static void select_prove(void *arg)
{
	struct cpuc_slot *slot = arg;
	const struct cpuc_clock *clock = NULL;
	size_t i;

	for (i = 0; i < cpuc_slot_count; i++) {
		clock = cpuc_slots[i].counter->clock;
		if (clock != NULL && clock->chains != NULL)
			break;
	}
	if (i == cpuc_slot_count)
		return;
	slot->trial.usable = cpuc_prove(slot, clock->chains) == 0;
}

CPUC_COLD void cpuc_try(struct cpuc_slot *slot)
{
	const struct cpuc_counter *c = slot->counter;
	struct attempt a = {.slot = slot};
	int sig = 0;

	/* Not in the attempt: each takes much of a signal handler's stack. */
	if (c->kind != CPUC_CALIBRATED && c->clock != NULL)
		a.nominal_hz = cpuc_persecond(NULL).hz;
	slot->trial = (struct cpuc_trial){.tried = true};
	/* The system's clocks work even where no handler can be installed. */
	if (c->kind >= CPUC_OS)
		select_attempt(&a);
	else
		sig = cpuc_probe(select_attempt, &a);
	/* It reads no register: the thread's other events faulted, once. */
	if (sig && c->kind == CPUC_CORE_KERNEL)
		sig = cpuc_probe(select_attempt, &a);
	if (sig)
		select_explain_fault(slot, sig);
	/* Not in the attempt: where the chains' clock may not be read, the
	 * counter is believed. */
	if (slot->trial.usable && c->kind <= CPUC_CORE_KERNEL)
		cpuc_probe(select_prove, slot);
	cpuc_perf_proved(c->events, slot->trial.usable);
}

/* Whether even a step of one cycle would rank the slot behind the best one.
 * Such a counter may be slow, and is not tried. */
static bool select_hopeless(const struct cpuc_slot *slot,
			    const struct cpuc_slot *best)
{
	enum cpuc_kind kind = slot->counter->kind;

	if (best == NULL)
		return false;
	/* The same steps, of a less true count, whose scale may need files. The
	 * system's clock is the same one; it seems finer in profiled code. */
	if (best->counter->kind == CPUC_CALIBRATED &&
	    (slot->counter->clock == best->counter->clock || kind == CPUC_OS))
		return true;
	return cpuc_kinds[kind].added + 1 >= cpuc_precision(best);
}

struct cpuc_slot *cpuc_find(struct cpuc_slot *slots, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(slots[i].counter->name, name))
			return &slots[i];
	return NULL;
}

static bool select_named(struct cpuc_slot *slots, size_t n,
			 struct cpuc_slot *named)
{
	size_t i;

	cpuc_try(named);
	for (i = 0; named->trial.usable && i < n; i++) {
		if (&slots[i] == named)
			continue;
		slots[i].trial = (struct cpuc_trial){.tried = true};
		cpuc_reason(&slots[i], "not tried: %s was asked for",
			    named->counter->name);
	}
	return named->trial.usable;
}

/* Tries all others, and returns the best; NULL: none works. */
static struct cpuc_slot *select_best(struct cpuc_slot *slots, size_t n,
				     const struct cpuc_slot *named)
{
	struct cpuc_slot *best = NULL, *slot;

	for (slot = slots; slot < slots + n; slot++) {
		if (slot == named)
			continue;
		slot->trial.tried = false;
		if (select_hopeless(slot, best))
			continue;
		cpuc_try(slot);
		/* Strictly better: the earlier wins a tie. */
		if (slot->trial.usable &&
		    (best == NULL ||
		     cpuc_precision(slot) < cpuc_precision(best)))
			best = slot;
	}
	return best;
}

struct cpuc_slot *cpuc_select(struct cpuc_slot *slots, size_t n,
			      const char *wanted)
{
	struct cpuc_slot *named = wanted ? cpuc_find(slots, n, wanted) : NULL;
	struct cpuc_slot *slot = named;

	if (named == NULL || !select_named(slots, n, named))
		slot = select_best(slots, n, named);
	cpuc_close_others(slots, n, slot);
	return slot;
}

static void select_close(void *set)
{
	cpuc_perf_close(set);
}

void cpuc_close_others(struct cpuc_slot *slots, size_t n,
		       const struct cpuc_slot *slot)
{
	const struct cpuc_event_set *kept = slot ? slot->counter->events : NULL;

	for (size_t i = 0; i < n; i++)
		if (slots[i].counter->events != kept &&
		    cpuc_probe(select_close, slots[i].counter->events))
			cpuc_perf_close(slots[i].counter->events);
}
