/* SPDX-License-Identifier: 0BSD */
/* default-gettimeofday: the time of day in microseconds. It jumps when set. */
#include <config.h>
#include "../rate/clock.h"
#include "../system/os_clock.h"

static long long default_gettimeofday_read(void)
{
	return (long long)cpuc_os_clock_us();
}

CPUC_CLOCK_COUNTER(default_gettimeofday, "default-gettimeofday", CPUC_OS,
		   .hz = 1000000, .exact = true)
