/* SPDX-License-Identifier: 0BSD */
/* The kinds of counters: their names, and what each adds to the precision
 * that is measured, so that a truer counter wins over a finer one. */
#include <config.h>
#include "counter.h"

static const struct {
	const char *name;
	long long added; /* cycles */
} kinds[] = {
	/* What the caller asked for. */
	[CPUC_CORE] = {"core", 0},
	/* As true; 100 for the cache lines and the branch history that the
	 * kernel's code takes from the code being timed. */
	[CPUC_CORE_KERNEL] = {"core", 100},
	/* Core cycles as long as the frequency stays as it was measured. */
	[CPUC_CALIBRATED] = {"calibrated", 50},
	/* Fine steps, but of a clock that runs while the core's own rate
	 * changes: wrong by the ratio of the two. */
	[CPUC_REFERENCE] = {"reference", 100},
	/* The same, and adjusted by time synchronisation, and coarse. */
	[CPUC_OS] = {"os", 200},
	/* Chosen last whatever it measures: select.c. */
	[CPUC_ZERO] = {"zero", 0},
};

const char *cpuc_kind_name(enum cpuc_kind kind)
{
	return kinds[kind].name;
}

long long cpuc_kind_added(enum cpuc_kind kind)
{
	return kinds[kind].added;
}
