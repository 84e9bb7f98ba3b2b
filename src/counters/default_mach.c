/* SPDX-License-Identifier: 0BSD */
/* default-mach: mach_absolute_time(), in mach_timebase_info()'s units. */
#include <config.h>
#include <mach/mach_time.h>
#include "../rate/clock.h"

static long long default_mach_read(void)
{
	return (long long)mach_absolute_time();
}

static struct cpuc_clock default_mach_clock = {
	.tick = default_mach_read,
	.exact = true,
};

static int default_mach_open(struct cpuc_slot *slot)
{
	mach_timebase_info_data_t unit;

	if (mach_timebase_info(&unit) != 0 || unit.numer == 0)
		return cpuc_reason(slot, "mach_timebase_info fails");
	default_mach_clock.hz = UINT64_C(1000000000) * unit.denom / unit.numer;
	return 0;
}

CPUC_DEFINE_COUNTER(default_mach, "default-mach", .kind = CPUC_REFERENCE,
		    .clock = &default_mach_clock, .open = default_mach_open)
