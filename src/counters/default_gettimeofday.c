/* SPDX-License-Identifier: 0BSD */
/* default-gettimeofday: the time of day in microseconds, as gettimeofday gives
 * it, which jumps when someone sets it. */
#include <config.h>
#include "../rate/clock.h"
#include "../slot.h"
#include "../system/os_clock.h"

static long long default_gettimeofday_read(void)
{
	return (long long)cpuc_os_clock_us();
}

static struct cpuc_clock default_gettimeofday_clock = {
	.tick = default_gettimeofday_read,
	.hz = 1000000,
	.exact = true,
};

const struct cpuc_counter cpuc_counter_default_gettimeofday = {
	.name = "default-gettimeofday",
	.kind = CPUC_OS,
	.clock = &default_gettimeofday_clock,
	.read = default_gettimeofday_read,
};
