/* SPDX-License-Identifier: 0BSD */
/* The environment variable cpucyclespersecond, between what files say and what
 * can be measured, by the first byte. persecond.c is included: it settles the
 * rate once in a process. */
#include <config.h>
#include <signal.h>
#include "reference.h"
#include "../../src/persecond.c"

static unsigned world;
static unsigned asked; /* bit 0 files, bit 1 measurement */

enum { FILES_KNOW = 1, FILES_FAULT = 2, MEASURABLE = 4 };

uint64_t cpuc_osfreq(const char *root, const char **source)
{
	MUST(*root == '\0', "%s", root);
	asked |= 1;
	*source = "files";
	if (world & FILES_FAULT)
		raise(SIGSEGV);
	return world & FILES_KNOW ? 3000000000 : 0;
}

uint64_t cpuc_observe(void)
{
	asked |= 2;
	return world & MEASURABLE ? 3700000001 : 0;
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	uint64_t hz, ref;
	size_t len;
	char *text, *part;

	world = fuzz_byte(&b);
	asked = 0;
	settled = (struct rate){0, NULL};
	part = fuzz_part(&b, '\0', &len);
	text = realloc(part, len + 1);
	MUST(text, "no memory");
	text[len] = '\0';
	setenv("cpucyclespersecond", text, 1);
	ref = expected(text);
	hz = (uint64_t)cpucycles_persecond();
	MUST(hz == ref, "%llu instead of %llu", (unsigned long long)hz,
	     (unsigned long long)ref);
	MUST(asked & 1, "files come first");
	MUST(!(asked & 2) || hz == UNKNOWN_HZ || hz == 3700000001,
	     "measured, though it was known");
	/* Settled: what changes later changes nothing. */
	setenv("cpucyclespersecond", "1234567", 1);
	MUST((uint64_t)cpucycles_persecond() == hz, "settled twice");
	unsetenv("cpucyclespersecond");
	free(text);
	return 0;
}
