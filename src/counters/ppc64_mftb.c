/* SPDX-License-Identifier: 0BSD */
/* ppc64-mftb, ppc32-mftb: the time base, by MFTB (Power ISA, Book II, "Time
 * Base"): 512 MHz since POWER6, tens of MHz on smaller CPUs. */
#include <config.h>
#include "../rate/clock.h"
#include "../rate/stated_rate.h"

#if defined(__powerpc64__)
#define PPC_NAME "ppc64-mftb"

CPUC_ASM_READ(long long, ppc64_mftb_read, "mftb %0")
#else
#define PPC_NAME "ppc32-mftb"

static long long ppc64_mftb_read(void)
{
	uint32_t high, low, again;

	do
		__asm__ volatile("mftbu %0\n\tmftb %1\n\tmftbu %2"
				 : "=&r"(high), "=&r"(low), "=&r"(again));
	while (high != again);
	return (long long)((uint64_t)high << 32 | low);
}
#endif

CPUC_CLOCK_COUNTER(ppc64_mftb, PPC_NAME, CPUC_REFERENCE,
		   .stated = cpuc_stated_timebase)
