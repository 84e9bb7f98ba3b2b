/* SPDX-License-Identifier: 0BSD */
/* arm64's virtual count, and its PMU's registers. */
#ifndef CPUC_ARM64_H
#define CPUC_ARM64_H
#if HAVE_COUNTER_ARM64_VCT

#include "../perf/perf.h"
#include "../rate/clock.h"

static inline long long cpuc_arm64_ticks(void)
{
	long long ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
	return ticks;
}

/* In arm64_vctcore.c. */
extern struct cpuc_clock cpuc_arm64_cntvct;

CPUC_ASM_READ(uint64_t, cpuc_arm64_cycles, "mrs %0, pmccntr_el0")

#if HAVE_COUNTER_ARM64_PERFPMC
#include "../perf/read.h"

extern struct cpuc_event_set cpuc_arm64_cycle_events;

/* The index of the cycle counter, which is number 31. */
#define CPUC_ARM64_CYCLES 32u

/* PMEVCNTR<8*a+b>_EL0 by its encoding, 3, 3, 14, 8+a, b (Arm ARM, D19.5), as
 * two of thirty names could be swapped unnoticed. There is no number 31. */
#define CPUC_ARM64_EVENT(a, crm, b)                               \
	case 8 * (a) + (b):                                       \
		__asm__ volatile("mrs %0, s3_3_c14_c" #crm "_" #b \
				 : "=r"(value));                  \
		break;

static inline __attribute__((always_inline)) uint64_t
cpuc_arm64_register(uint32_t index)
{
	uint64_t value = 0;

	if (index == CPUC_ARM64_CYCLES)
		return cpuc_arm64_cycles();
	/* Without a jump, for the register that the kernel uses first. */
	if (index == 1) {
		__asm__ volatile("mrs %0, s3_3_c14_c8_0" : "=r"(value));
		return value;
	}
	CPUC_REGISTERS(index - 1, CPUC_ARM64_EVENT)
	return value;
}

#endif

#endif
#endif
