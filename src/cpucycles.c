/* SPDX-License-Identifier: 0BSD */
/* The library's interface. `cpucycles` starts as cpuc_first: one thread selects
 * under the lock while others wait; then the slot is published, and after it
 * its entry. Later counts take no lock, unless they meet a change. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "calibrated/calibrate.h"
#include "calibrated/count.h"
#include "calibrated/thread_clock.h"
#include "cpucycles.h"
#include "instructions.h"
#include "perf/perf.h"
#include "rate/clock.h"
#include "rate/persecond.h"
#include "registry.h"
#include "select.h"
#include "thread/lock.h"
#include "system/environment.h"
#include "system/os_clock.h"
#include "system/probe.h"
#include "system/rseq.h"

long long (*cpucycles)(void) = cpuc_first;

long long cpucycles_count(void)
{
	return cpucycles();
}

static int trace_wanted;

void cpucycles_tracesetup(void)
{
	__atomic_store_n(&trace_wanted, 1, __ATOMIC_RELAXED);
}

/* The format is an interface: programs have parsed it for years. */
static void trace_if_wanted(void)
{
	struct cpucycles_counter c;
	unsigned long long millionths;
	unsigned i;
	int saved = errno;

	if (!__atomic_exchange_n(&trace_wanted, 0, __ATOMIC_RELAXED))
		return;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		/* %f has a decimal comma in some locales, and is inexact. */
		millionths = cpuc_scale_millionths(&c.scaling);
		printf("cpucycles tracesetup %u %s precision %lld scaling "
		       "%llu.%06llu only32 %d\n",
		       i, c.name, c.precision, millionths / 1000000,
		       millionths % 1000000, c.usable && c.bits == 32);
	}
	fflush(stdout);
	errno = saved;
}

static int fail(int err)
{
	errno = err;
	return -1;
}

/* Callers load `cpucycles` plainly: nothing pairs with this. Every CPU loads a
 * pointer whole, and slot.c copes, so no race detector may report it. */
__attribute__((no_sanitize("thread"))) static void
entry_publish(long long (*entry)(void))
{
	__atomic_store_n(&cpucycles, entry, __ATOMIC_RELEASE);
}

static void selection_publish(const struct cpuc_slot *slot)
{
	/* All of the slot first: paired with acquire in selected(), slot.c. */
	__atomic_store_n(&cpuc_current, slot, __ATOMIC_RELEASE);
	entry_publish(slot->reader.entry);
}

static void selection_begin(void)
{
	cpuc_probe_begin();
	cpuc_lock_prepare();
	cpuc_os_clock_check();
	cpuc_clock_again();
	cpuc_rseq_prepare();
}

static void selection_make(void)
{
	struct cpuc_slot *slot;

	selection_begin();
	slot = cpuc_select(cpuc_slots, cpuc_slot_count,
			   cpuc_getenv("cpucyclesimplementation"));
	selection_publish(slot);
	/* If the program has asked for instructions, choose for these, too. */
	if (cpuc_instructions_slot() != NULL)
		cpuc_instructions_choose();
	cpuc_probe_end();
}

static int selection_set(const char *name)
{
	struct cpuc_slot *slot = cpuc_find(cpuc_slots, cpuc_slot_count, name);

	if (slot == NULL)
		return ENOENT;
	selection_begin();
	cpuc_try(slot);
	if (slot->trial.usable)
		selection_publish(slot);
	cpuc_close_others(cpuc_slots, cpuc_slot_count, cpuc_current);
	cpuc_probe_end();
	return slot->trial.usable ? 0 : ENOTSUP;
}

/* Whether a selection has been made and published whole. A fork copies memory
 * while other threads run on, so a child may have half of it. */
static bool selection_made(void)
{
	return __atomic_load_n(&cpucycles, __ATOMIC_RELAXED) ==
		       cpuc_current->reader.entry &&
	       cpuc_perf_opened(cpuc_current->counter->events) &&
	       (cpuc_current->counter->kind != CPUC_CALIBRATED ||
		cpuc_calibration_done());
}

long long cpuc_first(void)
{
	struct cpuc_caller caller;

	/* A handler that interrupted the selection. The time advances. */
	if (cpuc_lock(&caller) != 0)
		return (long long)cpuc_os_clock_ns();
	if (!selection_made())
		selection_make();
	cpuc_unlock(&caller);
	trace_if_wanted();
	return __atomic_load_n(&cpucycles, __ATOMIC_ACQUIRE)();
}

/* The selected slot; selects if nothing has. Never NULL. */
static const struct cpuc_slot *selected(void)
{
	const struct cpuc_slot *slot =
		__atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE);

	if (slot->counter->name == NULL) {
		cpuc_first();
		slot = __atomic_load_n(&cpuc_current, __ATOMIC_ACQUIRE);
	}
	return slot->counter->name ? slot : &cpuc_slots[cpuc_slot_count - 1];
}

long long cpuc_first_instructions(void)
{
	const struct cpuc_counter *c;
	struct cpuc_caller caller;

	selected();
	if (cpuc_lock(&caller) != 0)
		return -1;
	if (!cpuc_instructions_chosen(&c)) {
		selection_begin();
		cpuc_instructions_choose();
		cpuc_probe_end();
	}
	cpuc_unlock(&caller);
	return cpucycles_instructions();
}

int cpucycles_select(const char *name)
{
	struct cpuc_caller caller;
	int err = 0;

	if (cpuc_lock(&caller) != 0)
		return fail(EDEADLK);
	if (name == NULL)
		selection_make();
	else
		err = selection_set(name);
	cpuc_unlock(&caller);
	if (err)
		return fail(err);
	trace_if_wanted();
	return 0;
}

const char *cpucycles_version(void)
{
	return PACKAGE_VERSION;
}

const char *cpucycles_implementation(void)
{
	return selected()->counter->name;
}

const char *cpucycles_kind(void)
{
	return cpuc_kinds[selected()->counter->kind].name;
}

/* A signal handler that interrupted the selection gets `rate`. */
static struct cpuc_rate
rate_by(struct cpuc_rate (*by)(const struct cpuc_slot *), struct cpuc_rate rate)
{
	const struct cpuc_slot *slot = selected();
	struct cpuc_caller caller;

	if (cpuc_lock(&caller) != 0)
		return rate;
	cpuc_probe_begin();
	rate = by(slot);
	cpuc_probe_end();
	cpuc_unlock(&caller);
	return rate;
}

/* Once it is known, this takes no lock, and no fault handler is installed. */
static struct cpuc_rate persecond(void)
{
	const struct cpuc_rate *known = cpuc_persecond_known(selected());

	return known != NULL ? *known
			     : rate_by(cpuc_persecond, cpuc_persecond_unknown);
}

long long cpucycles_persecond(void)
{
	return (long long)persecond().hz;
}

const char *cpucycles_persecondsource(void)
{
	return persecond().source;
}

long long cpucycles_observepersecond(void)
{
	return (long long)rate_by(cpuc_persecond_now, (struct cpuc_rate){0}).hz;
}

long long cpucycles_interruptions(void)
{
	selected();
	return cpuc_count_interruptions();
}

/* Tries a counter that is not to be selected. */
static void describe_try(struct cpuc_slot *slot)
{
	selection_begin();
	cpuc_try(slot);
	cpuc_close_others(cpuc_slots, cpuc_slot_count, cpuc_current);
	cpuc_probe_end();
}

CPUC_COLD void cpuc_first_on_core(struct cpuc_event_set *set)
{
	const struct cpuc_slot *counted = cpuc_instructions_slot();
	const char *name = counted != NULL ? counted->counter->name : NULL;
	struct cpuc_caller caller;

	/* A selection tries them anyway. */
	if (cpuc_lock(&caller) != 0)
		return;
	if (!cpuc_perf_unproven(set)) {
		/* Another thread was faster. */
	} else if (set == cpuc_current->counter->events) {
		if (selection_set(cpuc_current->counter->name) != 0)
			selection_make();
	} else if (name != NULL && set == counted->counter->events) {
		selection_begin();
		cpuc_instructions_choose();
		cpuc_probe_end();
	} else if (name != NULL) { /* a pair's */
		describe_try(cpuc_find(cpuc_slots, cpuc_slot_count, name));
	}
	cpuc_unlock(&caller);
}

CPUC_COLD static void describe(const struct cpuc_slot *slot,
			       struct cpucycles_counter *out, size_t size)
{
	const struct cpuc_counter *c = slot->counter;
	struct cpucycles_counter d = {
		.name = c->name,
		.kind = cpuc_kinds[c->kind].name,
		.kind_id = cpuc_kinds[c->kind].id,
		.bits = c->bits ? c->bits : 64,
		.per_thread =
			c->events != NULL || c->kind == CPUC_CORE_KERNEL ||
			(c->kind == CPUC_CALIBRATED && cpuc_thread_clock_ok()),
		.usable = slot->trial.usable,
	};

	memcpy(d.reason, slot->trial.reason, sizeof d.reason);
	if (slot->trial.hint != NULL)
		snprintf(d.hint, sizeof d.hint, "%s", slot->trial.hint);
	if (slot->trial.usable && c->kind != CPUC_ZERO) {
		struct cpuc_scale ratio = slot->reader.scale;

		/* Each thread measures its own later. */
		if (c->kind == CPUC_CALIBRATED)
			ratio = (struct cpuc_scale){cpuc_calibration.ratio,
						    CPUC_RATIO_BITS};
		cpuc_scale_ratio(&ratio, &d.scaling);
		d.step = slot->trial.step;
		d.precision = cpuc_precision(slot);
	}
	memset(out, 0, size);
	memcpy(out, &d, size < sizeof d ? size : sizeof d);
}

/* NULL: there is no such counter. */
static int describe_slot(struct cpuc_slot *slot, struct cpucycles_counter *out,
			 size_t size)
{
	struct cpuc_caller caller;

	if (out == NULL)
		return fail(EINVAL);
	if (cpuc_lock(&caller) != 0)
		return fail(EDEADLK);
	/* The selection passed over it because it could not win. */
	if (slot != NULL && !slot->trial.tried)
		describe_try(slot);
	if (slot != NULL)
		describe(slot, out, size);
	cpuc_unlock(&caller);
	return slot != NULL ? 0 : fail(ENOENT);
}

int cpucycles_counter(unsigned index, struct cpucycles_counter *out,
		      size_t size)
{
	if (index >= cpuc_slot_count)
		return fail(EINVAL);
	selected();
	return describe_slot(&cpuc_slots[index], out, size);
}

int cpucycles_counterbyname(const char *name, struct cpucycles_counter *out,
			    size_t size)
{
	const char *current = cpucycles_implementation();

	return describe_slot(
		cpuc_find(cpuc_slots, cpuc_slot_count, name ? name : current),
		out, size);
}

int cpucycles_instructionscounter(struct cpucycles_counter *out, size_t size)
{
	cpucycles_instructions();
	return describe_slot(cpuc_instructions_slot(), out, size);
}

/* The events of cycles to read with those of instructions: those of cpucycles()
 * or, if it reads none, this counter's. NULL: there are none. */
static struct cpuc_event_set *pair_cycles(const struct cpuc_counter *c)
{
	struct cpuc_event_set *set = selected()->counter->events;
	struct cpuc_caller caller;

	if (set != NULL)
		return set;
	if (!cpuc_perf_opened(c->events) && cpuc_lock(&caller) == 0) {
		describe_try(cpuc_find(cpuc_slots, cpuc_slot_count, c->name));
		cpuc_unlock(&caller);
	}
	return cpuc_perf_opened(c->events) && cpuc_perf_right(c->events)
		       ? c->events
		       : NULL;
}

int cpucycles_pair(long long *cycles, long long *instructions)
{
	long long pair[] = {-1, -1};
	const struct cpuc_counter *c;
	struct cpuc_event_set *set;

	if (!cpuc_instructions_chosen(&c)) {
		cpucycles_instructions();
		cpuc_instructions_chosen(&c);
	}
	if (c != NULL && c->pair != NULL)
		c->pair(pair);
	else if (c != NULL && (set = pair_cycles(c->cycles)) != NULL)
		cpuc_perf_pair(set, c->events, pair);
	*cycles = pair[0];
	*instructions = pair[1];
	return *cycles < 0 ? fail(ENOTSUP) : 0;
}
