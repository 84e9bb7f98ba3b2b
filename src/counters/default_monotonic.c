/* SPDX-License-Identifier: 0BSD */
/* default-monotonic: CLOCK_MONOTONIC, in nanoseconds. */
#include <config.h>
#include "../rate/clock.h"
#include "../system/os_clock.h"

static long long default_monotonic_read(void)
{
	return (long long)cpuc_os_clock_ns();
}

CPUC_CLOCK_COUNTER(default_monotonic, "default-monotonic", CPUC_OS,
		   .hz = 1000000000, .exact = true)
