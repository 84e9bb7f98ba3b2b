/* SPDX-License-Identifier: 0BSD */
/* Chains for x86, 64-bit and 32-bit code alike.
 *
 * Left out: adds, subs and leas with an immediate (folded at rename on Intel's
 * newer cores), register moves (eliminated), rotates by one (two operations
 * in their short form on many Intel cores), multiplies (3 cycles on most,
 * more on small cores) but for the steady chain. */
#ifndef CPUC_CHAINS_X86_H
#define CPUC_CHAINS_X86_H

#include "../chain.h"

/* lfence: no later instruction starts before all earlier ones completed. The
 * loop's own sub and jnz run ahead of the chain and hide behind it. */
#define X86_LOOP(name, links, link)                                          \
	static void name(uint32_t turns)                                     \
	{                                                                    \
		unsigned long x = 1;                                         \
                                                                             \
		__asm__ volatile("lfence\n"                                  \
				 ".p2align 6\n"                              \
				 "1:\n\t"                                    \
				 ".rept " #links "\n\t"                      \
				 link "\n\t"                                 \
				 ".endr\n\t"                                 \
				 "sub $1, %1\n\t"                            \
				 "jnz 1b\n\t"                                \
				 "lfence"                                    \
				 : "+r"(x), "+r"(turns)                      \
				 : "r"(0x5a5a5a5al)                          \
				 : "cc", "memory");                          \
	}

#define X86_CHAIN(name, link)                                                \
	X86_LOOP(x86_##name, 128, link)                                      \
	X86_LOOP(x86_##name##_brief, 16, link)

#define X86_ENTRY(name)                                                      \
	{                                                                    \
		x86_##name, x86_##name##_brief, 128 - 16                     \
	}

/* Latency 1 of all three: AMD Software Optimization Guides (families 17h, 19h,
 * 1Ah: instruction latency tables) and the Intel 64 and IA-32 Architectures
 * Optimization Reference Manual (latency and throughput of general purpose
 * instructions); measured on Zen 5: the same as each other within 0.1%, a
 * third of imul. The xor has two registers: it is no idiom for zero. */
X86_CHAIN(ror, "ror $7, %0")
X86_CHAIN(xor, "xor %2, %0")
X86_CHAIN(not, "not %0")

/* The steady chain: 32-bit, which takes 3 cycles on all but the oldest cores,
 * where the 64-bit multiply takes up to 6 (same sources; ruler.c finds out). */
X86_LOOP(x86_imul, 96, "imul %k2, %k0")
X86_LOOP(x86_imul_brief, 16, "imul %k2, %k0")

static const struct cpuc_chain x86_steady = {x86_imul, x86_imul_brief, 96 - 16};

static const struct cpuc_chain x86_chain[] = {
	X86_ENTRY(ror),
	X86_ENTRY(xor),
	X86_ENTRY(not),
};

#endif
