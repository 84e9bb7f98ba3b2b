/* SPDX-License-Identifier: 0BSD */
/* arm32-vct: CNTVCT, the virtual count of the generic timer, by MRRC p15,1,c14
 * (Arm ARM for ARMv7-A and -R, DDI 0406, "CNTVCT"). CNTFRQ has its rate, if
 * firmware has set that. SIGILL without the timer, or where CNTKCTL says so. */
#include <config.h>
#include "../rate/clock.h"

static long long arm32_vct_read(void)
{
	uint32_t low, high;

	__asm__ volatile("mrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
	return (long long)((uint64_t)high << 32 | low);
}

/* The same control bit lets users read both registers. */
static uint64_t arm32_vct_stated(void)
{
	uint32_t hz;

	__asm__("mrc p15, 0, %0, c14, c0, 0" : "=r"(hz));
	return hz;
}

CPUC_CLOCK_COUNTER(arm32_vct, "arm32-vct", CPUC_REFERENCE,
		   .stated = arm32_vct_stated)
