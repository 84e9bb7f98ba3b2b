/* SPDX-License-Identifier: 0BSD */
/* Chains for arm64: one instruction a link, one cycle an instruction, so that
 * a machine emulated with one cycle an instruction gets the same ratio.
 *
 * Left out: eor and add with a shifted operand (2 cycles on many Cortex
 * cores), moves (eliminated at rename), multiplies (2 to 4 by the core) but for the steady chain. */
#ifndef CPUC_CHAINS_ARM64_H
#define CPUC_CHAINS_ARM64_H

#include "../chain.h"

/* isb is complete, and what follows fetched, only after the branch before it
 * is resolved, and that one needs the chain's result: without it, a chain may
 * still be running when the clock is read. */
#define ARM64_LOOP(name, links, link)                                        \
	static void name(uint32_t turns)                                     \
	{                                                                    \
		uint64_t x = UINT64_C(0x123456789abcdef);                    \
                                                                             \
		__asm__ volatile("isb\n"                                     \
				 ".p2align 6\n"                              \
				 "1:\n\t"                                    \
				 ".rept " #links "\n\t"                      \
				 link "\n\t"                                 \
				 ".endr\n\t"                                 \
				 "subs %w1, %w1, #1\n\t"                     \
				 "b.ne 1b\n\t"                               \
				 "cbz %0, 2f\n"                              \
				 "2:\n\t"                                    \
				 "isb"                                       \
				 : "+r"(x), "+r"(turns)                      \
				 : "r"(UINT64_C(0x5a5a5a5a5a5a5a5a))         \
				 : "cc", "memory");                          \
	}

#define ARM64_CHAIN(name, link)                                              \
	ARM64_LOOP(arm64_##name, 128, link)                                  \
	ARM64_LOOP(arm64_##name##_brief, 16, link)

#define ARM64_ENTRY(name)                                                    \
	{                                                                    \
		arm64_##name, arm64_##name##_brief, 128 - 16                 \
	}

/* Latency 1 of all three: Arm Cortex-A and Neoverse Software Optimization
 * Guides, "Logical, basic" (eor, eon) and "Arithmetic, basic" (sub). */
ARM64_CHAIN(eor, "eor %0, %0, %2")
ARM64_CHAIN(sub, "sub %0, %0, %2")
ARM64_CHAIN(eon, "eon %0, %0, %2")

/* The steady chain: 2 to 4 cycles by the core; ruler.c finds out. */
ARM64_LOOP(arm64_mul, 96, "mul %0, %0, %2")
ARM64_LOOP(arm64_mul_brief, 16, "mul %0, %0, %2")

static const struct cpuc_chain arm64_steady = {arm64_mul, arm64_mul_brief,
					       96 - 16};

static const struct cpuc_chain arm64_chain[] = {
	ARM64_ENTRY(eor),
	ARM64_ENTRY(sub),
	ARM64_ENTRY(eon),
};

#endif
