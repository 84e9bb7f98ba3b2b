/* SPDX-License-Identifier: 0BSD */
/* What the counters that read x86's PMU have in common. */
#ifndef CPUC_X86_PERF_H
#define CPUC_X86_PERF_H

#include "../perf.h"

/* For tests, which have no PMU. */
#ifndef CPUC_RDPMC
#define CPUC_RDPMC(ecx) cpuc_rdpmc(ecx)
#endif

static inline uint64_t cpuc_rdpmc(uint32_t ecx)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(ecx));
	return (uint64_t)high << 32 | low;
}

/* An index is RDPMC's operand and 1; fixed-function counters have bit 30 set
 * in both (Intel SDM vol. 2, RDPMC). */
static inline __attribute__((always_inline)) uint64_t
cpuc_x86_register(uint32_t index)
{
	return CPUC_RDPMC(index - 1);
}

/* Fixed-function counter 1: unhalted core cycles. */
#define CPUC_X86_FIXED_CYCLES 0x40000001u

extern struct cpuc_pmu cpuc_x86_pmu;

/* 0 where CPUID leaf 0xA says that there is that counter, 48 bits wide;
 * -ENOTSUP with the reason. CPUID costs microseconds in a virtual machine. */
int cpuc_x86_fixed_cycles(struct cpuc_slot *slot);

#endif
