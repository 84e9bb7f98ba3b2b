/* SPDX-License-Identifier: 0BSD */
/* The kinds of counters: their names, and what each adds to the precision
 * that is measured, so that a truer counter wins over a finer one. */
#include <config.h>
#include "counter.h"

static const struct {
	const char *name;
	enum cpucycles_kind_id id;
	long long added; /* cycles */
} kinds[] = {
	/* What the caller asked for. */
	[CPUC_CORE] = {"core", CPUCYCLES_CORE, 0},
	/* As true; 100 for the cache lines and the branch history that the
	 * kernel's code takes from the code being timed. */
	[CPUC_CORE_KERNEL] = {"core", CPUCYCLES_CORE, 100},
	/* Core cycles as long as the frequency stays as it was measured. */
	[CPUC_CALIBRATED] = {"calibrated", CPUCYCLES_CALIBRATED, 50},
	/* Fine steps, but of a clock that runs while the core's own rate
	 * changes: wrong by the ratio of the two. */
	[CPUC_REFERENCE] = {"reference", CPUCYCLES_REFERENCE, 100},
	/* The same, and adjusted by time synchronisation, and coarse. */
	[CPUC_OS] = {"os", CPUCYCLES_OS, 200},
	/* Chosen last whatever it measures: select.c. */
	[CPUC_ZERO] = {"zero", CPUCYCLES_ZERO, 0},
};

const char *cpuc_kind_name(enum cpuc_kind kind)
{
	return kinds[kind].name;
}

long long cpuc_kind_added(enum cpuc_kind kind)
{
	return kinds[kind].added;
}

enum cpucycles_kind_id cpuc_kind_id(enum cpuc_kind kind)
{
	return kinds[kind].id;
}
