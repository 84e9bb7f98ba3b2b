/* SPDX-License-Identifier: 0BSD */
/* Tries counters and chooses the one to count with. */
#include <config.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "clock.h"
#include "engine.h"
#include "probe.h"

void cpuc_reason(struct cpuc_slot *slot, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(slot->reason, sizeof slot->reason, fmt, ap);
	va_end(ap);
}

static void fault_reason(struct cpuc_slot *slot, int sig)
{
	static const struct {
		int sig;
		const char *text;
	} faults[] = {
		{SIGILL, "SIGILL: this CPU lacks the instruction, or the "
			 "kernel keeps it from programs"},
		{SIGSEGV, "SIGSEGV: the kernel keeps the instruction from "
			  "programs"},
		{SIGSYS, "SIGSYS: a system call that it needs is denied "
			 "(container?); its seccomp profile must allow it"},
	};
	size_t i;

	for (i = 0; i < sizeof faults / sizeof *faults; i++)
		if (faults[i].sig == sig) {
			cpuc_reason(slot, "%s", faults[i].text);
			return;
		}
	cpuc_reason(slot, "signal %d when it was tried", sig);
}

static int settle(struct cpuc_slot *slot, const struct cpuc_world *world)
{
	int err;

	if (slot->settled)
		return 0;
	err = cpuc_settle_scale(slot, world);
	if (err)
		return err;
	if (slot->counter->bits == 32) {
		slot->anchor.ns = cpuc_clock_coarse_ns();
		slot->anchor.full = (uint32_t)slot->counter->read();
		slot->anchor.rate = slot->rate ? slot->rate : world->persecond;
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
static void attempt(void *arg)
{
	struct attempt *a = arg;
	struct cpuc_slot *slot = a->slot;
	const struct cpuc_counter *c = slot->counter;
	long long step = 0;
	int err = c->open ? c->open(slot) : 0;

	if (err == 0) {
		cpuc_clock_of(c)();
		err = settle(slot, a->world);
	}
	if (err == 0 && c->kind != CPUC_ZERO)
		err = cpuc_measure(slot, &step);
	if (err == 0) {
		slot->usable = true;
		slot->precision = step + cpuc_kind_added(c->kind);
	} else if (slot->reason[0] == '\0') {
		cpuc_reason(slot, "%s", strerror(-err));
	}
}

void cpuc_try(struct cpuc_slot *slot, const struct cpuc_world *world)
{
	struct attempt a = {slot, world};
	int sig;

	slot->tried = true;
	slot->usable = false;
	slot->precision = 0;
	slot->reason[0] = '\0';
	sig = cpuc_probe(attempt, &a);
	if (sig) {
		slot->usable = false;
		slot->precision = 0;
		fault_reason(slot, sig);
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
		/* System calls, which fault no more than any. */
		if (slot->counter->kind == CPUC_OS &&
		    slot->counter->open(slot) == 0 && settle(slot, world) == 0)
			break;
	}
	slot = &slots[i < n ? i : n - 1];
	if (!slot->settled) {
		cpuc_compose(slot);
		slot->settled = true;
	}
	slot->usable = true;
	slot->precision = cpuc_kind_added(slot->counter->kind);
	slot->reason[0] = '\0';
	return slot;
}

static void close_loser(struct cpuc_slot *slot)
{
	if (slot->counter->close)
		slot->counter->close(slot);
}

static bool better(const struct cpuc_slot *a, const struct cpuc_slot *b)
{
	bool a_zero = a->counter->kind == CPUC_ZERO;
	bool b_zero = b->counter->kind == CPUC_ZERO;

	if (a_zero != b_zero)
		return b_zero;
	return a->precision < b->precision;
}

/* Whether even a step of one cycle would leave the slot behind: no time is
 * spent on such a counter, which may be a slow one, in the first call. */
static bool hopeless(const struct cpuc_slot *slot,
		     const struct cpuc_slot *best)
{
	enum cpuc_kind kind = slot->counter->kind;

	if (best == NULL || best->counter->kind == CPUC_ZERO)
		return false;
	return kind == CPUC_ZERO || cpuc_kind_added(kind) + 1 >= best->precision;
}

static struct cpuc_slot *find(struct cpuc_slot *slots, size_t n,
			      const char *name)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strcmp(slots[i].counter->name, name))
			return &slots[i];
	return NULL;
}

static void pass_over(struct cpuc_slot *slots, size_t n,
		      const struct cpuc_slot *named)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (&slots[i] == named)
			continue;
		slots[i].tried = true;
		slots[i].usable = false;
		slots[i].precision = 0;
		cpuc_reason(&slots[i], "not tried: %s was asked for",
			    named->counter->name);
	}
}

struct cpuc_slot *cpuc_select(struct cpuc_slot *slots, size_t n,
			      const char *wanted,
			      const struct cpuc_world *world)
{
	struct cpuc_slot *best = NULL, *named;
	size_t i;

	named = wanted ? find(slots, n, wanted) : NULL;
	if (named != NULL) {
		cpuc_try(named, world);
		if (named->usable) {
			pass_over(slots, n, named);
			return named;
		}
	}
	for (i = 0; i < n; i++) {
		if (&slots[i] == named)
			continue;
		slots[i].tried = false;
		if (hopeless(&slots[i], best))
			continue;
		cpuc_try(&slots[i], world);
		/* Strictly better: the earlier wins a tie. */
		if (slots[i].usable &&
		    (best == NULL || better(&slots[i], best)))
			best = &slots[i];
	}
	for (i = 0; i < n; i++)
		if (&slots[i] != best)
			close_loser(&slots[i]);
	return best;
}
