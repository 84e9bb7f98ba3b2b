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
#define BY_CHAINS UINT64_C(3700000000)
#define UNKNOWN UINT64_C(2399987654)

static unsigned world; /* of the above */

struct cpuc_rate cpuc_stated_rate(uint64_t core_hz)
{
	uint64_t hz = world & TOO_LOW    ? BY_CHAINS / 10 * 6
		      : world & TOO_HIGH ? BY_CHAINS / 10 * 21
					 : BY_FILES;

	if (world & FILES_FAULT)
		real_access();
	if (!(world & FILES_KNOW))
		return (struct cpuc_rate){0, "unknown", false};
	if ((world & OF_CORE) && !cpuc_stated_agrees(hz, core_hz))
		return (struct cpuc_rate){BY_NEXT, "the next", false};
	return (struct cpuc_rate){hz, "files", world & OF_CORE};
}

/* The core: of so many stretches of 20 us */
#define OF 10
static struct core {
	const char *what;
	unsigned higher, often; /* in so many */
	double step;            /* the rate is higher by this part, */
	double longer;          /* and work takes longer, by up to this part. */
	double apart;           /* Five rates in turn are so far apart. */
	double right, off;      /* The mean rate, by so much at most. */
} core;

static double now = 1e9; /* ns */
static double cycles;    /* by a core counter */
static double step = 1;  /* of the system's clock, ns */
static double risen;     /* when the core is no longer at rest */
static unsigned reads, draw;

/* Takes so many cycles. */
static void work(double n)
{
	unsigned stretch = (unsigned)(now / 20000) % OF;
	double rate = (double)BY_CHAINS / 1e9;

	if ((world & AT_REST) && now < risen)
		rate /= 4;
	rate *= stretch * 3 % OF < core.higher ? 1 + core.step : 1;
	rate *= 1 + core.apart * (stretch / 2);
	cycles += n;
	draw = draw * 1664525u + 1013904223u;
	if (stretch * 7 % OF < core.often)
		n *= 1 + core.longer * (draw >> 8) / (1 << 24);
	now += n / rate;
}

uint64_t cpuc_os_clock_ns(void)
{
	reads++;
	work(70);
	return (uint64_t)(now / step) * (uint64_t)step;
}

/* A clock of 1 GHz with chains, in place of the registry. */
static struct cpuc_clock chained;

static long long tick(void)
{
	if (world & CLOCK_FAULTS)
		real_access();
	work(40);
	return (long long)(now / 1e9 * (double)chained.hz);
}

static void window(uint32_t turns, uint64_t stamp[3])
{
	int i;

	for (i = 0; i < 3; i++) {
		work(32. * (i == 0 ? 1 : i == 1 ? turns : 8 * turns));
		stamp[i] = (uint64_t)tick();
	}
}

static void glimpse(uint32_t turns, uint64_t stamp[2])
{
	stamp[0] = (uint64_t)tick();
	work(32. * turns);
	stamp[1] = (uint64_t)tick();
}

static const struct cpuc_chain chain[] = {{window, glimpse, 32, "one"}};
static const struct cpuc_chain_ops chains = {chain, 1, 0};

static unsigned calibrations;

static const char *distrusted(void)
{
	calibrations++;
	return world & MEASURABLE ? NULL : "the test's word";
}

static struct cpuc_clock chained = {.tick = tick,
				    .hz = 1000000000,
				    .chains = &chains,
				    .distrusted = distrusted};
struct cpuc_slot cpuc_slots[] = {
	{.counter = &(const struct cpuc_counter){.kind = CPUC_CALIBRATED,
						 .clock = &chained}}};
const size_t cpuc_slot_count = 1;

int cpuc_reason(struct cpuc_slot *slot, const char *format, ...)
{
	(void)slot;
	(void)format;
	return -ENOTSUP;
}

static void forget(void)
{
	stated = measured = (struct cpuc_rate){0};
	memset(persecond_found, 0, sizeof persecond_found);
	chained.tried = false;
	chained.nominal = world & CLOCK_NOMINAL;
	chained.hz = world & CLOCK_FAULTS ? 0
		     : world & CLOCK_NEAR ? BY_FILES / 100 * 102
		     : chained.nominal    ? BY_CLOCK
					  : 1000000000;
	memset(&cpuc_calibration, 0, sizeof cpuc_calibration);
	risen = now + 10e6;
}

static bool is(uint64_t hz, uint64_t right)
{
	return right == BY_CHAINS
		       ? hz > right - right / 500 && hz < right + right / 500
		       : hz == right;
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
} rows[] = {
	{"no source", 0, "", UNKNOWN, UNKNOWN},
	{"the variable", 0, "3100000000", BY_VARIABLE, BY_VARIABLE},
	{"the variable, which may state the TSC's rate", MEASURABLE,
	 "3100000000", BY_VARIABLE, BY_CHAINS},
	{"a variable that is no number", MEASURABLE, "3.1 GHz", BY_CHAINS,
	 BY_CHAINS},
	{"files and the variable", FILES_KNOW, "3100000000", BY_FILES,
	 BY_FILES},
	{"files that may state the TSC's rate", FILES_KNOW | MEASURABLE,
	 "3100000000", BY_FILES, BY_CHAINS},
	{"files that state the core's rate", FILES_KNOW | OF_CORE | MEASURABLE,
	 "3100000000", BY_FILES, BY_FILES},
	{"files that state an idle core's rate, beside a clock",
	 FILES_KNOW | CLOCK_NOMINAL | MEASURABLE, "", BY_CLOCK, BY_CHAINS},
	{"beside a clock of 2% more", FILES_KNOW | CLOCK_NOMINAL | CLOCK_NEAR,
	 "", BY_FILES, BY_FILES},
	{"beside one of which the rate is unknown",
	 FILES_KNOW | CLOCK_NOMINAL | CLOCK_FAULTS, "", BY_FILES, BY_FILES},
	{"files that state the core's limit, beside a clock",
	 FILES_KNOW | CLOCK_NOMINAL | OF_CORE, "", BY_FILES, BY_FILES},
	{"files of a core that is at rest",
	 FILES_KNOW | OF_CORE | MEASURABLE | AT_REST, "", BY_FILES, BY_FILES},
	{"files that state less than the core's rate",
	 FILES_KNOW | OF_CORE | TOO_LOW | MEASURABLE, "", BY_NEXT, BY_CHAINS},
	{"files that state more than twice the core's rate",
	 FILES_KNOW | OF_CORE | TOO_HIGH | MEASURABLE, "", BY_NEXT, BY_CHAINS},
	{"the same of a core that cannot be measured",
	 FILES_KNOW | OF_CORE | TOO_HIGH, "", BY_CHAINS / 10 * 21,
	 BY_CHAINS / 10 * 21},
	{"files that fault", FILES_KNOW | FILES_FAULT | OF_CORE, "3100000000",
	 BY_VARIABLE, BY_VARIABLE},
};

static void check(const struct row *row)
{
	uint64_t hz, again, calibrated;
	bool measured_for_nothing;

	world = row->world;
	forget();
	setenv("cpucyclespersecond", row->variable, 1);
	hz = ask(NULL);
	measured_for_nothing = chained.tried && !is(hz, BY_CHAINS) &&
			       hz != UNKNOWN && !(world & OF_CORE);
	setenv("cpucyclespersecond", "1234567", 1);
	again = ask(NULL);
	calibrated = ask(cpuc_slots);
	ok(is(hz, row->hz) && is(calibrated, row->calibrated),
	   "%s: %llu Hz, and %llu Hz for calibrated counters", row->what,
	   (unsigned long long)hz, (unsigned long long)calibrated);
	ok(again == hz && ask(NULL) == hz && !measured_for_nothing &&
		   cpuc_persecond_known(NULL)->hz == hz &&
		   cpuc_persecond_known(cpuc_slots)->hz == calibrated,
	   "what is known is not asked for again");
}

/* By chains, or by a core counter where these fault: the rate, of the lower
 * one. */
static double observe(const struct cpuc_slot *by)
{
	double hz;

	world = by == NULL ? MEASURABLE : MEASURABLE | CLOCK_FAULTS;
	forget();
	reads = 0;
	cpuc_probe_begin();
	hz = (double)cpuc_persecond_now(by).hz / (double)BY_CHAINS;
	cpuc_probe_end();
	return hz;
}

static const struct core cores[] = {
	{"3% more for three tenths of the time", 3, 0, 0.03, 0, 0, 1.009,
	 0.002},
	{"chains that take up to 10% longer for as long", 0, 3, 0, 0.1, 0, 1,
	 0.002},
	{"five rates in turn, a tenth apart", 0, 0, 0, 0, 0.1, 1.2, 0.05},
};

static void check_chains(void)
{
	const int times = 20;
	double hz = 0;

	for (int i = 0; i < times; i++)
		hz += observe(NULL) / times;
	ok(fabs(hz - core.right) < core.off,
	   "%s: %.4f of the lower rate, %.4f is right", core.what, hz,
	   core.right);
}

static long long core_cycles(void)
{
	work(40);
	return (long long)cycles;
}

static const struct cpuc_counter core_counter = {.kind = CPUC_CORE,
						 .read = core_cycles};
static const struct cpuc_slot by_core = {.counter = &core_counter};

static void check_counter(double ns, bool known)
{
	double hz;

	core = (struct core){.higher = 3, .step = 0.025};
	step = ns;
	hz = observe(&by_core);
	ok(known ? hz > 1.0055 && hz < 1.0095 : hz == 0,
	   "by a counter and a clock in steps of %.0f ns: %.4f", ns, hz);
	ok(reads < 200000, "by %u reads of the clock", reads);
}

static long long seldom(void)
{
	return core_cycles() / 64;
}

/* No core is so slow. A clock whose chains are refused is not tried again. */
static void check_refused(void)
{
	static const struct cpuc_counter slow = {.kind = CPUC_CORE,
						 .read = seldom};
	static const struct cpuc_slot by = {.counter = &slow};
	unsigned tried;

	core = (struct core){0};
	step = 1;
	ok(observe(&by) == 0, "a counter that advances at 1/64 of the rate");
	tried = calibrations;
	cpuc_probe_begin();
	cpuc_persecond_now(&by_core);
	cpuc_probe_end();
	ok(calibrations == tried, "chains that were refused stay so");
}

int main(void)
{
	size_t i;

	for (i = 0; i < COUNT(rows); i++)
		check(&rows[i]);
	for (i = 0; i < COUNT(cores); i++) {
		core = cores[i];
		check_chains();
	}
	check_counter(1000, true);
	check_counter(1e7, false);
	check_refused();
	return done_testing();
}
