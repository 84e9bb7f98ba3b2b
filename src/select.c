/* SPDX-License-Identifier: 0BSD */
/* Tries counters, measures them and chooses the one to count with. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "system/os_clock.h"
#include "perf/available.h"
#include "system/probe.h"
#include "select.h"
#include "system/thread.h"

#define MEASURE_CALLS 1000
#define MEASURE_ROUNDS 10

struct measured {
	long long step; /* smallest nonzero difference; 0: never advanced */
	bool back;      /* it went back at least once */
};

static struct measured measure_round(const struct cpuc_slot *slot)
{
	struct measured r = {0, false};
	long long last = cpuc_slot_read(slot), now, step;
	int i;

	for (i = 1; i < MEASURE_CALLS; i++) {
		now = cpuc_slot_read(slot);
		/* Modulo 2^64, so that no pair of counts overflows. */
		step = (long long)((unsigned long long)now -
				   (unsigned long long)last);
		last = now;
		if (step < 0)
			r.back = true;
		else if (step > 0 && (r.step == 0 || step < r.step))
			r.step = step;
	}
	return r;
}

/* By raw counts, as many as all rounds would take. Extended to 64 bits, a count
 * that stands still would jump once the clock is half a wrap ahead of it, and
 * pass for one that advances. */
static bool measure_stands_still(const struct cpuc_counter *c)
{
	long long first = c->read();
	int i;

	for (i = 0; i < MEASURE_CALLS * MEASURE_ROUNDS; i++)
		if (c->read() != first)
			return false;
	return true;
}

/* Whether the slot's composed reader advances and never goes back, and its
 * smallest step. It is the reader that callers wait for, extension and scaling
 * included. */
static int measure_slot(struct cpuc_slot *slot)
{
	struct measured r = {0, false};
	int i;

	if (slot->counter->bits == 32 && measure_stands_still(slot->counter)) {
		cpuc_reason(slot, "the count does not advance");
		return -ENOTSUP;
	}
	/* One bad round may be a migration between cores whose counters
	 * differ; ten are the counter's fault. */
	for (i = 0; i < MEASURE_ROUNDS; i++) {
		r = measure_round(slot);
		if (r.step > 0 && !r.back) {
			slot->step = r.step;
			return 0;
		}
	}
	cpuc_reason(slot, r.back ? "the count goes backwards"
				 : "the count does not advance");
	return -ENOTSUP;
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
		cpuc_hint(slot, "its seccomp profile must allow it");
	} else {
		cpuc_reason(slot, "signal %d when it was tried", sig);
	}
}

static int select_settle(struct cpuc_slot *slot, const struct cpuc_world *world)
{
	int err;

	if (slot->settled)
		return 0;
	err = cpuc_settle_scale(slot, world);
	if (err)
		return err;
	if (slot->counter->bits == 32) {
		/* Without it, threads have no anchors of their own. */
		cpuc_thread_prepare();
		slot->anchor.ns = cpuc_os_clock_coarse_ns();
		slot->anchor.full = (uint32_t)slot->counter->read();
		slot->anchor.rate =
			slot->rate ? slot->rate : world->persecond();
	}
	cpuc_compose(slot);
	slot->settled = true;
	return 0;
}

struct attempt {
	struct cpuc_slot *slot;
	const struct cpuc_world *world;
};

/* Everything about a counter that may fault. */
static void select_attempt(void *arg)
{
	const struct attempt *a = arg;
	struct cpuc_slot *slot = a->slot;
	const struct cpuc_counter *c = slot->counter;
	int err = cpuc_perf_try(slot, c->events);

	if (err == 0 && c->open)
		err = c->open(slot);
	if (err == 0) {
		cpuc_clock_of(c)();
		err = select_settle(slot, a->world);
	}
	if (err == 0 && c->kind != CPUC_ZERO)
		err = measure_slot(slot);
	slot->usable = err == 0;
	if (err && slot->reason[0] == '\0')
		cpuc_reason(slot, "%s", strerror(-err));
}

void cpuc_try(struct cpuc_slot *slot, const struct cpuc_world *world)
{
	struct attempt a = {slot, world};
	int sig;

	slot->tried = true;
	slot->usable = false;
	slot->step = 0;
	cpuc_reason(slot, "%s", "");
	/* Settled here, as it needs much of a signal handler's stack, and so
	 * does the attempt. */
	if (slot->counter->unit != CPUC_CYCLE && slot->counter->chains == NULL)
		world->persecond();
	sig = cpuc_probe(select_attempt, &a);
	if (sig) {
		slot->usable = false;
		select_explain_fault(slot, sig);
	}
	slot->failed = !slot->usable;
}

struct cpuc_slot *cpuc_last_resort(struct cpuc_slot *slots, size_t n,
				   const struct cpuc_world *world)
{
	struct cpuc_slot *slot;
	size_t i;

	for (i = 0; i < n; i++) {
		slot = &slots[i];
		/* System calls fault no more than any other. */
		if (slot->counter->kind == CPUC_OS &&
		    (slot->counter->open == NULL ||
		     slot->counter->open(slot) == 0) &&
		    select_settle(slot, world) == 0)
			break;
	}
	slot = &slots[i < n ? i : n - 1];
	if (!slot->settled) {
		cpuc_compose(slot);
		slot->settled = true;
	}
	slot->usable = true;
	slot->step = 0;
	cpuc_reason(slot, "%s", "");
	return slot;
}

static bool select_better(const struct cpuc_slot *a, const struct cpuc_slot *b)
{
	bool a_zero = a->counter->kind == CPUC_ZERO;
	bool b_zero = b->counter->kind == CPUC_ZERO;

	if (a_zero != b_zero)
		return b_zero;
	return cpuc_precision(a) < cpuc_precision(b);
}

/* Whether even a step of one cycle would leave the slot behind the best one.
 * The first call spends no time on such a counter, which may be slow. */
static bool select_hopeless(const struct cpuc_slot *slot,
			    const struct cpuc_slot *best)
{
	enum cpuc_kind kind = slot->counter->kind;

	if (best == NULL || best->counter->kind == CPUC_ZERO)
		return false;
	return kind == CPUC_ZERO ||
	       cpuc_kind_added(kind) + 1 >= cpuc_precision(best);
}

struct cpuc_slot *cpuc_find(struct cpuc_slot *slots, size_t n, const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(slots[i].counter->name, name))
			return &slots[i];
	return NULL;
}

static void select_pass_over(struct cpuc_slot *slots, size_t n,
			     const struct cpuc_slot *named)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (&slots[i] == named)
			continue;
		slots[i].tried = true;
		slots[i].usable = false;
		slots[i].step = 0;
		cpuc_reason(&slots[i], "not tried: %s was asked for",
			    named->counter->name);
	}
}

struct cpuc_slot *cpuc_select(struct cpuc_slot *slots, size_t n,
			      const char *wanted,
			      const struct cpuc_world *world)
{
	struct cpuc_slot *best = NULL, *named;
	const struct cpuc_event_set *kept;
	size_t i;

	named = wanted ? cpuc_find(slots, n, wanted) : NULL;
	if (named != NULL) {
		cpuc_try(named, world);
		if (named->usable) {
			select_pass_over(slots, n, named);
			return named;
		}
	}
	for (i = 0; i < n; i++) {
		if (named != NULL && &slots[i] == named)
			continue;
		slots[i].tried = false;
		if (select_hopeless(&slots[i], best))
			continue;
		cpuc_try(&slots[i], world);
		/* Strictly better: the earlier wins a tie. */
		if (slots[i].usable &&
		    (best == NULL || select_better(&slots[i], best)))
			best = &slots[i];
	}
	kept = best ? best->counter->events : NULL;
	for (i = 0; i < n; i++)
		if (slots[i].counter->events != kept)
			cpuc_perf_close(slots[i].counter->events);
	return best;
}
