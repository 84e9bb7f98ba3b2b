/* SPDX-License-Identifier: 0BSD */
/* Which source of cycles per second comes first: files, the environment
 * variable cpucyclespersecond, a measurement. persecond.c is included, as it
 * finds a rate once in a process. */
#include <config.h>
#include "faults/real.h"
#include "tap.h"
#include "../src/persecond.c"

enum { FILES_KNOW = 1, FILES_FAULT = 2, OF_CORE = 4, MEASURABLE = 8 };

#define BY_FILES UINT64_C(3000000000)
#define BY_VARIABLE UINT64_C(3100000000)
#define BY_CHAINS UINT64_C(3700000001)
#define UNKNOWN UINT64_C(2399987654)

static unsigned world; /* of the above */
static bool measures;

struct cpuc_rate cpuc_stated_rate(const char *root)
{
	(void)root;
	if (world & FILES_FAULT)
		real_access();
	if (!(world & FILES_KNOW))
		return (struct cpuc_rate){0, "unknown", false};
	return (struct cpuc_rate){BY_FILES, "files", world & OF_CORE};
}

/* A clock with chains, in place of the registry and calibration.c. */
static struct cpuc_clock chained = {
	.chains = (const struct cpuc_chain_ops *)&world};
static const struct cpuc_counter counter = {.kind = CPUC_CALIBRATED,
					    .clock = &chained};
struct cpuc_slot cpuc_slots[] = {{.counter = &counter}};
const size_t cpuc_slot_count = 1;

int cpuc_calibrate(struct cpuc_clock *clock, const char **why,
		   unsigned *permille)
{
	(void)clock;
	(void)why;
	*permille = 0;
	measures = true;
	return 0;
}

bool cpuc_calibration_done(void)
{
	return measures && world & MEASURABLE;
}

uint64_t cpuc_calibration_hz(void)
{
	return BY_CHAINS;
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
	{"a measurement", MEASURABLE, "", BY_CHAINS, BY_CHAINS},
	{"the variable", 0, "3.1e9", BY_VARIABLE, BY_VARIABLE},
	{"the variable, which may state the TSC's rate", MEASURABLE, "3.1e9",
	 BY_VARIABLE, BY_CHAINS},
	{"a variable that is no number", MEASURABLE, "3.1 GHz", BY_CHAINS,
	 BY_CHAINS},
	{"files and the variable", FILES_KNOW, "3.1e9", BY_FILES, BY_FILES},
	{"files that may state the TSC's rate", FILES_KNOW | MEASURABLE,
	 "3.1e9", BY_FILES, BY_CHAINS},
	{"files that state the core's rate", FILES_KNOW | OF_CORE | MEASURABLE,
	 "3.1e9", BY_FILES, BY_FILES},
	{"files that fault", FILES_KNOW | FILES_FAULT | OF_CORE, "3.1e9",
	 BY_VARIABLE, BY_VARIABLE},
	{"only files, which fault", FILES_KNOW | FILES_FAULT, "", UNKNOWN,
	 UNKNOWN},
};

static void check(const struct row *row)
{
	uint64_t hz, again, calibrated;
	bool measured_for_nothing;

	world = row->world;
	asked_system = observed = measures = false;
	setenv("cpucyclespersecond", row->variable, 1);
	hz = ask(NULL);
	measured_for_nothing = measures && hz != BY_CHAINS && hz != UNKNOWN;
	setenv("cpucyclespersecond", "1234567", 1);
	again = ask(NULL);
	calibrated = ask(cpuc_slots);
	ok(hz == row->hz && calibrated == row->calibrated,
	   "%s: %llu Hz, and %llu Hz for calibrated counters", row->what,
	   (unsigned long long)hz, (unsigned long long)calibrated);
	ok(again == hz && ask(NULL) == hz && !measured_for_nothing,
	   "what is known is not asked for again");
}

int main(void)
{
	size_t i;

	for (i = 0; i < sizeof rows / sizeof *rows; i++)
		check(&rows[i]);
	return done_testing();
}
