/* SPDX-License-Identifier: 0BSD */
/* How long the parts of a first call take. The linker's --wrap puts the
 * functions below between the library's steps, so that the library itself is
 * what users get. */
#include <config.h>
#include <string.h>
#include "../../src/calibrated/count.h"
#include "../../src/clock.h"
#include "../../src/persecond.h"
#include "../../src/system/probe.h"
#include "../../src/select.h"
#include "bench.h"
#include "parts.h"

const char *const parts_name[PARTS] = {
	[PART_OTHER] = "lock, publishing",
	[PART_HANDLERS] = "fault handlers",
	[PART_FREQUENCY] = "frequency",
	[PART_PROBING] = "asking, probing, measuring",
	[PART_CALIBRATING] = "calibrating",
};

static long long spent[PARTS], begun, since;
static enum part part;

/* Time goes to the part that is entered, until it ends or enters another. */
static enum part enter(enum part next)
{
	long long now = bench_ns();
	enum part before = part;

	spent[part] += now - since;
	since = now;
	part = next;
	return before;
}

void parts_begin(void)
{
	begun = since = bench_ns();
}

long long parts_end(long long ns[PARTS])
{
	enter(PART_OTHER);
	memcpy(ns, spent, sizeof spent);
	return since - begun;
}

#define WRAP(of, type, name, parameters, arguments)   \
	type __real_##name parameters;                \
	type __wrap_##name parameters;                \
	type __wrap_##name parameters                 \
	{                                             \
		enum part before = enter(of);         \
		type value = __real_##name arguments; \
                                                      \
		enter(before);                        \
		return value;                         \
	}
#define WRAP_VOID(of, name)                   \
	void __real_##name(void);             \
	void __wrap_##name(void);             \
	void __wrap_##name(void)              \
	{                                     \
		enum part before = enter(of); \
                                              \
		__real_##name();              \
		enter(before);                \
	}

WRAP_VOID(PART_HANDLERS, cpuc_probe_begin)
WRAP_VOID(PART_HANDLERS, cpuc_probe_end)
WRAP_VOID(PART_PROBING, cpuc_os_clock_check)
WRAP(PART_FREQUENCY, struct cpuc_persecond, cpuc_persecond,
     (const struct cpuc_slot *current), (current))
WRAP(PART_PROBING, struct cpuc_slot *, cpuc_select,
     (struct cpuc_slot * slots, size_t n, const char *wanted),
     (slots, n, wanted))
WRAP(PART_CALIBRATING, int, cpuc_clock_scale,
     (struct cpuc_clock * c, uint64_t nominal_hz, struct cpuc_scale *scale),
     (c, nominal_hz, scale))
WRAP(PART_CALIBRATING, int, cpuc_calibrate,
     (struct cpuc_clock * c, const char **why, unsigned *permille),
     (c, why, permille))
WRAP(PART_CALIBRATING, uint64_t, cpuc_count_slow, (uintptr_t armed, uint64_t d),
     (armed, d))
