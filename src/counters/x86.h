/* SPDX-License-Identifier: 0BSD */
/* The counters of x86: the time-stamp counter and the PMU's registers. */
#ifndef CPUC_X86_H
#define CPUC_X86_H

#include "../rate/clock.h"

/* A counter's name on 64-bit and on 32-bit x86. */
#if defined(__x86_64__)
#define CPUC_X86_NAME(rest) "amd64-" rest
#else
#define CPUC_X86_NAME(rest) "x86-" rest
#endif

/* The TSC, and the open() of all that read it: in amd64_tsccore.c. */
extern struct cpuc_clock cpuc_x86_tsc;
int cpuc_x86_open_tsc(struct cpuc_slot *slot);

#if HAVE_COUNTER_AMD64_PERFPMC
#include "../perf/perf.h"
#include "../perf/read.h"

/* Tests replace it, for machines without a PMU. */
#ifndef CPUC_RDPMC
#define CPUC_RDPMC(ecx) cpuc_rdpmc(ecx)
#endif

static inline uint64_t cpuc_rdpmc(uint32_t ecx)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(ecx));
	return (uint64_t)high << 32 | low;
}

/* An index is RDPMC's operand plus 1; bit 30 of both marks a fixed-function
 * counter (Intel SDM vol. 2, RDPMC). */
static inline __attribute__((always_inline)) uint64_t
cpuc_x86_register(uint32_t index)
{
	return CPUC_RDPMC(index - 1);
}

/* RDPMC's operand for fixed-function counter 1: unhalted core cycles. */
#define CPUC_X86_FIXED_CYCLES 0x40000001u

extern struct cpuc_event_set cpuc_x86_cycle_events;

#endif

#endif
