/* SPDX-License-Identifier: 0BSD */
/* arm32-1176: the cycle counter register of the ARM1176, by MRC
 * p15,0,c15,c12,1 (ARM1176JZF-S TRM, DDI 0301, "c15, Cycle Counter Register").
 * SIGILL unless the access validation control register lets users read it; it
 * is the core's, not the thread's. On other cores c15 means other things, and
 * users cannot read it: the probe finds that out. */
#include <config.h>
#if HAVE_COUNTER_ARM32_1176
#include "../slot.h"

static long long arm32_1176_read(void)
{
	uint32_t cycles;

	__asm__ volatile("mrc p15, 0, %0, c15, c12, 1" : "=r"(cycles));
	return (long long)cycles;
}

const struct cpuc_counter cpuc_counter_arm32_1176 = {
	.name = "arm32-1176",
	.kind = CPUC_CORE,
	.bits = 32,
	.read = arm32_1176_read,
};

#endif
