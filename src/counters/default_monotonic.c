/* SPDX-License-Identifier: 0BSD */
/* default-monotonic: CLOCK_MONOTONIC, in nanoseconds. Every POSIX system has
 * it; where its fast path faults, os_clock.c goes through the system call. */
#include <config.h>
#include "../rate/clock.h"
#include "../slot.h"
#include "../system/os_clock.h"

static long long default_monotonic_read(void)
{
	return (long long)cpuc_os_clock_ns();
}

static struct cpuc_clock default_monotonic_clock = {
	.tick = default_monotonic_read,
	.hz = 1000000000,
	.exact = true,
};

const struct cpuc_counter cpuc_counter_default_monotonic = {
	.name = "default-monotonic",
	.kind = CPUC_OS,
	.clock = &default_monotonic_clock,
	.read = default_monotonic_read,
};
