/* SPDX-License-Identifier: 0BSD */
/* The environment variable cpucyclespersecond, between what files say and what
 * can be measured, by the first byte. persecond.c is included: it finds the
 * rate once in a process. */
#include <config.h>
#include "reference.h"
#include "../faults/real.h"
#include "../../src/persecond.c"

#define UNKNOWN_HZ UINT64_C(2399987654)

static unsigned world;
static unsigned asked; /* bit 0 files, bit 1 measurement */

enum { FILES_KNOW = 1, FILES_FAULT = 2, MEASURABLE = 4, OF_CORE = 8 };

struct cpuc_rate cpuc_stated_rate(const char *root)
{
	MUST(*root == '\0', "%s", root);
	asked |= 1;
	if (world & FILES_FAULT)
		real_access();
	if (!(world & FILES_KNOW))
		return (struct cpuc_rate){0, "unknown", false};
	return (struct cpuc_rate){3000000000, "files", world & OF_CORE};
}

/* A clock with chains, in place of the registry and calibration.c. */
static struct cpuc_clock chained = {
	.chains = (const struct cpuc_chain_ops *)&world};
static const struct cpuc_counter counter = {.kind = CPUC_CALIBRATED,
					    .clock = &chained};
struct cpuc_slot cpuc_slots[] = {{.counter = &counter}};
const size_t cpuc_slot_count = 1;

int cpuc_calibrate(struct cpuc_clock *c, const char **why, unsigned *permille)
{
	(void)c;
	(void)why;
	*permille = 0;
	asked |= 2;
	return 0;
}

bool cpuc_calibration_done(void)
{
	return asked & 2 && world & MEASURABLE;
}

uint64_t cpuc_calibration_hz(void)
{
	return 3700000001;
}

static uint64_t expected(const char *text)
{
	uint64_t hz;

	if ((world & (FILES_KNOW | FILES_FAULT)) == FILES_KNOW)
		return 3000000000;
	hz = ref_hz(text, strlen(text), 0, "");
	if (hz != 0)
		return hz;
	return world & MEASURABLE ? 3700000001 : UNKNOWN_HZ;
}

static uint64_t ask(const struct cpuc_slot *current)
{
	uint64_t hz;

	cpuc_probe_begin();
	hz = cpuc_persecond(current).hz;
	cpuc_probe_end();
	return hz;
}

static void check(const char *text)
{
	uint64_t hz, ref;

	setenv("cpucyclespersecond", text, 1);
	ref = expected(text);
	hz = ask(NULL);
	MUST(hz == ref, "%llu instead of %llu", (unsigned long long)hz,
	     (unsigned long long)ref);
	MUST(asked & 1, "files come first");
	MUST(!(asked & 2) || hz == UNKNOWN_HZ || hz == 3700000001,
	     "measured, though it was known");
	/* Settled: what changes later changes nothing. */
	setenv("cpucyclespersecond", "1234567", 1);
	MUST(ask(NULL) == hz, "settled twice");
	/* A measurement comes before a rate that may be the TSC's. */
	hz = ask(cpuc_slots);
	if ((world & (FILES_KNOW | FILES_FAULT | OF_CORE)) !=
	    (FILES_KNOW | OF_CORE))
		ref = world & MEASURABLE ? 3700000001 : ref;
	MUST(hz == ref, "calibrated: %llu instead of %llu",
	     (unsigned long long)hz, (unsigned long long)ref);
	MUST(ask(NULL) == expected(text), "it is the counter's");
	unsetenv("cpucyclespersecond");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	size_t len;
	char *text, *part;

	world = fuzz_byte(&b);
	asked = 0;
	asked_system = observed = false;
	part = fuzz_part(&b, '\0', &len);
	text = realloc(part, len + 1);
	MUST(text, "no memory");
	text[len] = '\0';
	check(text);
	free(text);
	return 0;
}
