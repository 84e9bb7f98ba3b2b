/* SPDX-License-Identifier: 0BSD */
/* Which source of cycles per second comes first: files, the environment
 * variable cpucyclespersecond, a measurement; and how true that is, of a
 * pretended core. persecond.c is included, as it finds a rate once in a
 * process. */
#include <config.h>
#include <errno.h>
#include <math.h>
#include "faults/real.h"
#include "pretended_clock.h"
#include "tap.h"

/* In place of calibrate.c. */
#define cpuc_calibration_done pretended_done
#define cpuc_calibrate pretended_calibrate
#define cpuc_run_core_hz pretended_hz
#include "../src/rate/persecond.c"

enum {
	FILES_KNOW = 1,
	FILES_FAULT = 2,
	OF_CORE = 4,
	MEASURABLE = 8,
	CLOCK_NOMINAL = 16, /* a clock runs at the nominal rate, */
	CLOCK_NEAR = 32,    /* about what the files say, */
	CLOCK_FAULTS = 64,
	TOO_LOW = 128,  /* the files state a rate that no such core has, */
	TOO_HIGH = 256, /* or this one; then a clock's */
	AT_REST = 512   /* the core begins at a quarter of its rate */
};

#define BY_FILES UINT64_C(3000000000)
#define BY_NEXT UINT64_C(2800000000)
#define BY_CLOCK UINT64_C(2600000000)
#define BY_VARIABLE UINT64_C(3100000000)
#define BY_CORE UINT64_C(3700000000)
#define UNKNOWN UINT64_C(2399987654)

static unsigned world; /* of the above */

struct cpuc_rate cpuc_stated_rate(uint64_t core_hz)
{
	uint64_t hz = world & TOO_LOW    ? BY_CORE / 10 * 6
		      : world & TOO_HIGH ? BY_CORE / 10 * 21
					 : BY_FILES;

	if (world & FILES_FAULT)
		real_access();
	if (!(world & FILES_KNOW))
		return (struct cpuc_rate){0, "unknown", false};
	if ((world & OF_CORE) && !cpuc_stated_agrees(hz, core_hz))
		return (struct cpuc_rate){BY_NEXT, "the next", false};
	return (struct cpuc_rate){hz, "files", world & OF_CORE};
}

static double now = 1e9; /* ns */
static double cycles;    /* by a core counter */
static double step = 1;  /* of the system's clock, ns */
static double risen;     /* when the core is no longer at rest */

static double core_rate(void)
{
	return (double)BY_CORE / ((world & AT_REST) && now < risen ? 4 : 1);
}

/* Takes so many cycles. */
static void work(double n)
{
	cycles += n;
	now += n / core_rate() * 1e9;
}

uint64_t cpuc_os_clock_ns(void)
{
	work(70);
	return (uint64_t)(now / step) * (uint64_t)step;
}

/* The chains: calibrated once, in the registry's place. */
static bool calibrated;
static unsigned calibrations, measurements;

/* Of ten measurements, so many of a rate that is higher by 3%, so many that are
 * disturbed, and so many that are none. */
static unsigned higher, disturbed, none;

static long long tick(void)
{
	if (world & CLOCK_FAULTS)
		real_access();
	work(40);
	return (long long)now;
}

static struct cpuc_clock clock_of = {.tick = tick};
struct cpuc_slot cpuc_slots[] = {
	{.counter = &(const struct cpuc_counter){.kind = CPUC_CALIBRATED,
						 .clock = &clock_of}}};
const size_t cpuc_slot_count = 1;

int cpuc_reason(struct cpuc_slot *slot, const char *format, ...)
{
	(void)slot;
	(void)format;
	return -ENOTSUP;
}

bool pretended_done(void)
{
	return calibrated;
}

int pretended_calibrate(struct cpuc_slot *slot)
{
	calibrations++;
	slot->counter->clock->tried = true;
	calibrated = tick() > 0 && world & MEASURABLE;
	return calibrated ? 0 : -ENOTSUP;
}

uint64_t pretended_hz(void)
{
	unsigned i = measurements++ % 10;
	double hz = core_rate();

	now += 25000;
	if (i >= 10 - none)
		return 0;
	return (uint64_t)(i < higher               ? hz * 1.03
			  : i < higher + disturbed ? hz / 1.1
						   : hz);
}

static void forget(void)
{
	stated = measured = (struct cpuc_rate){0};
	memset(persecond_found, 0, sizeof persecond_found);
	clock_of.tried = calibrated = false;
	clock_of.nominal = world & CLOCK_NOMINAL;
	clock_of.hz = world & CLOCK_FAULTS ? 0
		      : world & CLOCK_NEAR ? BY_FILES / 100 * 102
					   : BY_CLOCK;
	/* In the last but one of 16 measurements. */
	risen = now + 14.5 * 80 * 25000;
}

static uint64_t ask(const struct cpuc_slot *current)
{
	uint64_t hz;

	cpuc_probe_begin();
	hz = cpuc_persecond(current).hz;
	cpuc_probe_end();
	return hz;
}

static const struct row {
	const char *what;
	unsigned world;
	const char *variable;
	uint64_t hz, calibrated; /* of all other counters, and of these */
	const char *source;      /* of the others' */
} rows[] = {
	{"no source", 0, "", UNKNOWN, UNKNOWN, "unknown"},
	{"the variable, which may state the TSC's rate", MEASURABLE,
	 "3100000000", BY_VARIABLE, BY_CORE,
	 "environment variable cpucyclespersecond"},
	{"a variable that is no number", MEASURABLE, "3.1 GHz", BY_CORE,
	 BY_CORE, "measured"},
	{"files that may state the TSC's rate", FILES_KNOW | MEASURABLE,
	 "3100000000", BY_FILES, BY_CORE, "files"},
	{"files that state the core's rate", FILES_KNOW | OF_CORE | MEASURABLE,
	 "3100000000", BY_FILES, BY_FILES, "files"},
	{"files that state an idle core's rate, beside a clock",
	 FILES_KNOW | CLOCK_NOMINAL | MEASURABLE, "", BY_CLOCK, BY_CORE,
	 "time-stamp counter"},
	{"beside a clock of 2% more", FILES_KNOW | CLOCK_NOMINAL | CLOCK_NEAR,
	 "", BY_FILES, BY_FILES, "files"},
	{"beside one of which the rate is unknown",
	 FILES_KNOW | CLOCK_NOMINAL | CLOCK_FAULTS, "", BY_FILES, BY_FILES,
	 "files"},
	{"files that state the core's rate, beside a clock",
	 FILES_KNOW | OF_CORE | MEASURABLE | CLOCK_NOMINAL, "", BY_FILES,
	 BY_FILES, "files"},
	{"no files, beside a clock", MEASURABLE | CLOCK_NOMINAL, "3100000000",
	 BY_VARIABLE, BY_CORE, "environment variable cpucyclespersecond"},
	{"files of a core that is at rest",
	 FILES_KNOW | OF_CORE | MEASURABLE | AT_REST, "", BY_FILES, BY_FILES,
	 "files"},
	{"files that state less than the core's rate",
	 FILES_KNOW | OF_CORE | TOO_LOW | MEASURABLE, "", BY_NEXT, BY_CORE,
	 "the next"},
	{"files that state more than twice the core's rate",
	 FILES_KNOW | OF_CORE | TOO_HIGH | MEASURABLE, "", BY_NEXT, BY_CORE,
	 "the next"},
	{"the same of a core that cannot be measured",
	 FILES_KNOW | OF_CORE | TOO_HIGH, "", BY_CORE / 10 * 21,
	 BY_CORE / 10 * 21, "files"},
	{"files that fault", FILES_KNOW | FILES_FAULT | OF_CORE, "3100000000",
	 BY_VARIABLE, BY_VARIABLE, "environment variable cpucyclespersecond"},
};

static void check(const struct row *row)
{
	uint64_t hz, of_calibrated;
	bool measured_for_nothing;
	const char *source;

	world = row->world;
	forget();
	setenv("cpucyclespersecond", row->variable, 1);
	hz = ask(NULL);
	source = cpuc_persecond_known(NULL)->source;
	measured_for_nothing = clock_of.tried && hz != BY_CORE &&
			       hz != UNKNOWN && !(world & OF_CORE);
	setenv("cpucyclespersecond", "1234567", 1);
	of_calibrated = ask(cpuc_slots);
	ok(hz == row->hz && of_calibrated == row->calibrated &&
		   !strcmp(source, row->source),
	   "%s: %llu Hz, by %s, and %llu Hz for calibrated counters", row->what,
	   (unsigned long long)hz, source, (unsigned long long)of_calibrated);
	ok(ask(NULL) == hz && !measured_for_nothing &&
		   cpuc_persecond_known(NULL)->hz == hz,
	   "what is known is not asked for again");
}

/* A measurement by chains or, where their clock faults, by a core counter. */
static void observe(const struct cpuc_slot *by, double right, double off)
{
	double hz, begun;

	world = by == NULL ? MEASURABLE : MEASURABLE | CLOCK_FAULTS;
	forget();
	calibrations = 0;
	cpuc_probe_begin();
	begun = now;
	hz = (double)cpuc_persecond_now(by).hz / (double)BY_CORE;
	begun = (now - begun) / 1e6;
	cpuc_persecond_now(by);
	cpuc_probe_end();
	ok(fabs(hz - right) <= off && calibrations == 1,
	   "%s, of ten %u higher, %u disturbed, a clock in steps of %.0f ns: "
	   "%.4f of the rate",
	   by == NULL ? "chains" : "a counter", higher, disturbed, step, hz);
	ok(begun < 5, "that takes %.2f ms", begun);
}

static double slower = 1; /* no core is so slow as 64 make it */

static long long core_cycles(void)
{
	work(40);
	return (long long)(cycles / slower);
}

static const struct cpuc_counter core_counter = {.kind = CPUC_CORE,
						 .read = core_cycles};
static const struct cpuc_slot by_core = {.counter = &core_counter};

static void check_later(void)
{
	setenv("cpucyclespersecond", "", 1);
	world = 0;
	forget();
	ok(ask(NULL) == UNKNOWN && cpuc_within(ask(&by_core), BY_CORE, 100),
	   "no source for clocks, but a core counter measures its own rate");
	world = 0;
	forget();
	ask(NULL);
	world = MEASURABLE;
	clock_of.tried = false;
	ok(ask(cpuc_slots) == BY_CORE,
	   "no calibration at first, but one in a later selection");
}

static void check_measured(void)
{
	higher = 3;
	observe(NULL, 1.009, 0.0001);
	disturbed = 2;
	none = 5;
	observe(NULL, 1.03, 0.0001);
	none = 7;
	observe(NULL, 0, 0);
	step = 1000;
	observe(&by_core, 1, 0.002);
	step = 1e7;
	observe(&by_core, 0, 0);
	step = 1;
	slower = 64;
	observe(&by_core, 0, 0);
}

int main(void)
{
	for (size_t i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
	check_later();
	check_measured();
	return done_testing();
}
