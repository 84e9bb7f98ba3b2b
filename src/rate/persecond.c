/* SPDX-License-Identifier: 0BSD */
/* Cycles per second: stated, in the order of cpucycles(7), or measured. On a
 * virtual machine most stated rates are the TSC's, so for calibrated counters
 * only one that is stated of the core comes before a measurement. */
#include <config.h>
#include <string.h>
#include "../arithmetic.h"
#include "../calibrated/calibrate.h"
#include "../calibrated/calibration.h"
#include "clock.h"
#include "persecond.h"
#include "../registry.h"
#include "../system/environment.h"
#include "../system/os_clock.h"
#include "../system/probe.h"
#include "textfile.h"

/* The rate is a mean of many, because the core's may step meanwhile: of those
 * near their median, as the others were disturbed. At least a third must be
 * known; few are near where the core has three rates in turn. */
#define OBSERVE_TRIES 80
#define OBSERVE_NEAR CPUC_PERMILLE(50)
#define OBSERVE_NS 25000 /* of one comparison with the system's clock */
#define RISE_TRIES 16    /* in which an idle core gets to its rate */

/* The number that users have come to recognise as "unknown". */
const struct cpuc_rate cpuc_persecond_unknown = {UINT64_C(2399987654),
						 "unknown", false};

/* The rate by a core counter and the system's clock. */
static uint64_t persecond_by_counter(const struct cpuc_slot *slot)
{
	uint64_t ns = cpuc_os_clock_ns(), now, hz;
	uint64_t count = (uint64_t)cpuc_slot_read(slot);

	do
		now = cpuc_os_clock_ns();
	while (now - ns < OBSERVE_NS);
	count = (uint64_t)cpuc_slot_read(slot) - count;
	hz = count * 1000000000 / (now - ns);
	return hz >= CPUC_CORE_HZ_MIN && hz <= CPUC_CORE_HZ_MAX ? hz : 0;
}

/* Calibrates even if another counter is in use. */
static void persecond_calibrate(void *unused)
{
	size_t i;

	(void)unused;
	for (i = 0; i < cpuc_slot_count && !cpuc_calibration_done(); i++) {
		/* The counter's own keeps its reason. */
		struct cpuc_slot slot = {.counter = cpuc_slots[i].counter};

		if (slot.counter->kind == CPUC_CALIBRATED &&
		    !slot.counter->clock->tried)
			cpuc_calibrate(&slot);
	}
}

struct observation {
	const struct cpuc_slot *current;
	uint64_t hz;
};

static void persecond_observe(void *arg)
{
	struct observation *o = arg;
	bool by_chains = cpuc_calibration_done();
	uint64_t hz[OBSERVE_TRIES];
	unsigned i, n = 0;

	if (!by_chains && (o->current == NULL ||
			   o->current->counter->kind > CPUC_CORE_KERNEL ||
			   cpuc_clock_coarse()))
		return;
	for (i = 0; i < OBSERVE_TRIES; i++) {
		hz[n] = by_chains ? cpuc_run_core_hz()
				  : persecond_by_counter(o->current);
		n += hz[n] != 0;
	}
	if (n >= OBSERVE_TRIES / 3)
		o->hz = cpuc_middle(hz, n, 1, OBSERVE_NEAR);
}

struct cpuc_rate cpuc_persecond_now(const struct cpuc_slot *current)
{
	struct observation o = {current, 0};

	/* Two probes: a clock that may not be read ends the first. */
	cpuc_probe(persecond_calibrate, NULL);
	cpuc_probe(persecond_observe, &o);
	return (struct cpuc_rate){o.hz, "measured", true};
}

/* Each rate is found once per process; from then on it has a source. */
static struct cpuc_rate stated, measured;

static void persecond_ask_system(void *arg)
{
	*(struct cpuc_rate *)arg = cpuc_stated_rate(measured.hz);
}

/* A core's stated rate is believed if the core runs at about that, or soon
 * does. But the administrator's word stands. */
static void persecond_confirm_core(struct cpuc_rate *s,
				   const struct cpuc_slot *current)
{
	struct cpuc_rate now;
	int tries = RISE_TRIES;

	if (strncmp(s->source, "/etc/", 5) == 0)
		return;
	do
		now = cpuc_persecond_now(current);
	while (!cpuc_stated_agrees(s->hz, now.hz) && --tries > 0);
	if (now.hz == 0)
		return;
	measured = now;
	cpuc_probe(persecond_ask_system, s);
}

/* The rate of a clock that runs at the core's nominal rate; 0: unknown. */
static void persecond_ask_clock(void *arg)
{
	uint64_t *hz = arg;
	struct cpuc_clock *clock;
	size_t i;

	for (i = 0; i < cpuc_slot_count && *hz == 0; i++) {
		clock = cpuc_slots[i].counter->clock;
		if (clock != NULL && clock->nominal && cpuc_clock_rate(clock))
			*hz = clock->hz;
	}
}

/* On bare metal this is often the rate of a core that is idle at the moment. */
static void persecond_confirm_clock(struct cpuc_rate *s)
{
	uint64_t hz = 0;

	if (cpuc_probe(persecond_ask_clock, &hz) != 0 || hz == 0 ||
	    cpuc_within(s->hz, hz, 50))
		return;
	s->hz = hz;
	s->source = "time-stamp counter";
}

static struct cpuc_rate persecond_stated(const struct cpuc_slot *current)
{
	const char *text = cpuc_getenv("cpucyclespersecond");
	struct cpuc_rate s = {0, "", false};

	cpuc_probe(persecond_ask_system, &s);
	if (s.of_core)
		persecond_confirm_core(&s, current);
	if (s.hz != 0 && !s.of_core)
		persecond_confirm_clock(&s);
	if (s.hz == 0 && text != NULL) {
		s.hz = cpuc_parse_hz(text, 0, "");
		s.source = "environment variable cpucyclespersecond";
	}
	return s;
}

static const struct cpuc_rate *persecond_find(const struct cpuc_slot *current,
					      bool calibrated)
{
	if (stated.source == NULL)
		stated = persecond_stated(current);
	if (stated.hz != 0 && (stated.of_core || !calibrated))
		return &stated;
	if (measured.hz == 0)
		measured = cpuc_persecond_now(current);
	if (measured.hz != 0)
		return &measured;
	return stated.hz != 0 ? &stated : &cpuc_persecond_unknown;
}

/* What was found: for a counter of each kind, and one for all clocks. */
static const struct cpuc_rate *persecond_found[CPUC_REFERENCE + 1];

static const struct cpuc_rate **persecond_place(const struct cpuc_slot *current)
{
	enum cpuc_kind kind =
		current != NULL ? current->counter->kind : CPUC_REFERENCE;

	return &persecond_found[cpuc_min(kind, CPUC_REFERENCE)];
}

const struct cpuc_rate *cpuc_persecond_known(const struct cpuc_slot *current)
{
	return __atomic_load_n(persecond_place(current), __ATOMIC_ACQUIRE);
}

CPUC_COLD struct cpuc_rate cpuc_persecond(const struct cpuc_slot *current)
{
	const struct cpuc_rate **place = persecond_place(current);
	const struct cpuc_rate *rate = *place;

	if (rate == NULL) {
		rate = persecond_find(
			current, place == &persecond_found[CPUC_CALIBRATED]);
		/* The rate itself first: for cpuc_persecond_known(). */
		__atomic_store_n(place, rate, __ATOMIC_RELEASE);
	}
	return *rate;
}
