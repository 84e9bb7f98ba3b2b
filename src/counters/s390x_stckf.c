/* SPDX-License-Identifier: 0BSD */
/* s390x-stckf: the time-of-day clock, by STORE CLOCK FAST (z/Architecture
 * Principles of Operation, SA22-7832, "TOD Clock"). Bit 51 is a microsecond, so
 * a tick is 1/4096 of one. It may be steered, as CLOCK_MONOTONIC is. */
#include <config.h>
#include "../rate/clock.h"

/* The clock starts in 1900: its top bit has been set since 1971, and it wraps
 * in 2042. Counted from 2020 (UTC) it does neither in this century. */
#define YEAR_2020 (UINT64_C(43829) * 86400 * 1000000 * 4096)

static long long s390x_stckf_read(void)
{
	uint64_t ticks;

	__asm__ volatile("stckf %0" : "=Q"(ticks) : : "cc");
	return (long long)(ticks - YEAR_2020);
}

CPUC_CLOCK_COUNTER(s390x_stckf, "s390x-stckf", CPUC_REFERENCE, .hz = 4096000000,
		   .exact = true)
