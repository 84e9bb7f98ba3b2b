/* SPDX-License-Identifier: 0BSD */
/* RISC-V's counters: their names and CSRs, from 0xC00 on; on 32-bit CPUs those
 * of their upper halves, from 0xC80 on. */
#ifndef CPUC_RISCV_H
#define CPUC_RISCV_H
#if HAVE_COUNTER_RISCV64_TIMECORE

#include <stdint.h>
#include "../perf/perf.h"
#include "../rate/clock.h"

#if __riscv_xlen == 64
#define CPUC_RISCV_NAME(rest) "riscv64-" rest
#define CPUC_RISCV_CSR(n, value) \
	__asm__ volatile("csrr %0, 0xc00 + " #n : "=r"(value))
#else
#define CPUC_RISCV_NAME(rest) "riscv32-" rest
/* Reads again if the lower half wraps in between. */
#define CPUC_RISCV_CSR(n, value)                                           \
	do {                                                               \
		uint32_t low, high, after;                                 \
                                                                           \
		__asm__ volatile("1: csrr %0, 0xc80 + " #n "\n\t"          \
				 "csrr %1, 0xc00 + " #n "\n\t"             \
				 "csrr %2, 0xc80 + " #n "\n\t"             \
				 "bne %0, %2, 1b"                          \
				 : "=&r"(high), "=&r"(low), "=&r"(after)); \
		value = (uint64_t)high << 32 | low;                        \
	} while (0)
#endif

static inline long long cpuc_riscv_ticks(void)
{
	uint64_t ticks;

	CPUC_RISCV_CSR(1, ticks);
	return (long long)ticks;
}

/* In riscv64_timecore.c. */
extern struct cpuc_clock cpuc_riscv_time;

#if HAVE_COUNTER_RISCV64_PERFRDCYCLE
#include "../perf/read.h"

extern struct cpuc_event_set cpuc_riscv_cycle_events;

#define CPUC_RISCV_CASE(a, unused, b)             \
	case 8 * a + b:                           \
		CPUC_RISCV_CSR(8 * a + b, value); \
		break;

/* A page's index is the CSR's number less 0xC00, plus 1. */
static inline __attribute__((always_inline)) uint64_t
cpuc_riscv_register(uint32_t index)
{
	uint64_t value = 0;

	CPUC_REGISTERS(index - 1, CPUC_RISCV_CASE)
	return value;
}

#endif

#endif
#endif
