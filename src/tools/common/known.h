/* SPDX-License-Identifier: 0BSD */
/* Chains of dependent instructions that take a known number of cycles, to
 * compare counts with, not those that the library calibrates itself by; and a
 * loop of a known number of instructions. */
#ifndef CPUC_TOOLS_KNOWN_H
#define CPUC_TOOLS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

struct known {
	const char *name;                  /* the instruction's */
	void (*loop)(unsigned long turns); /* NULL at the end of a list */
	unsigned long turn; /* cycles that a turn of the loop takes */
};

/* The cycles of a chain that is long enough: a multiple of every turn. */
#define KNOWN_CYCLES 90000

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Latencies: AMD Software Optimization Guides for families 17h, 19h and 1Ah,
 * and the Intel 64 and IA-32 Architectures Optimization Reference Manual: 3 of
 * crc32 (SSE4.2), 1 of add of two registers. The loop's own instructions run
 * beside the chain. */
#define KNOWN_FENCE "lfence\n\t"
#define KNOWN_ALIGN ".p2align 6\n"
#define KNOWN_LINKS "100"
#define KNOWN_END "sub $1, %1\n\tjnz 1b\n\t"
#define KNOWN_CHAINS                         \
	KNOWN(crc32, "crc32l %k2, %k0", 300) \
	KNOWN(add, "add %2, %0", 100)
#elif defined(__aarch64__)
/* Latency 1: Arm Cortex-A and Neoverse Software Optimization Guides,
 * "Logical, basic" (orr) and "Arithmetic, basic" (add, adcs). An emulator takes
 * longer for the carry. A turn is so long that it hardly matters whether the
 * loop's own two instructions run beside the chain, as they mostly do, or take
 * a cycle each, as on an emulated machine. */
#define KNOWN_FENCE "isb\n\t"
#define KNOWN_LINKS "998"
#define KNOWN_END "subs %1, %1, #1\n\tb.ne 1b\n\t"
#define KNOWN_CHAINS                       \
	KNOWN(orr, "orr %0, %0, %2", 1000) \
	KNOWN(add, "add %0, %0, %2", 1000) \
	KNOWN(adcs, "adcs %0, %0, %2", 1000)
#elif defined(__riscv)
/* Latency 1: SiFive U74-MC Core Complex Manual; XuanTie C906 and C910 User
 * Manuals. An emulator takes longer for the comparison. */
#define KNOWN_FENCE "fence\n\t"
#define KNOWN_LINKS "998"
#define KNOWN_END "addi %1, %1, -1\n\tbnez %1, 1b\n\t"
#define KNOWN_CHAINS                       \
	KNOWN(sub, "sub %0, %0, %2", 1000) \
	KNOWN(sltiu, "sltiu %0, %0, 5", 1000)
#else
#define KNOWN_FENCE ""
#define KNOWN_CHAINS
#if defined(__arm__) && __ARM_ARCH >= 7
#define KNOWN_END "subs %1, %1, #1\n\tbne 1b\n\t"
#elif defined(__hppa__)
#define KNOWN_END "addib,<> -1, %1, 1b\n\tnop\n\t"
#elif defined(__loongarch64)
#define KNOWN_END "addi.d %1, %1, -1\n\tbnez %1, 1b\n\t"
#elif defined(__mips__)
/* One more, after the branch. */
#define KNOWN_END                                             \
	".set push\n\t.set noreorder\n\taddiu %1, %1, -1\n\t" \
	"bnez %1, 1b\n\tnop\n\t.set pop\n\t"
#define LOOP_INSTRUCTIONS 7
#elif defined(__powerpc__)
#define KNOWN_END "addic. %1, %1, -1\n\tbne 1b\n\t"
#elif defined(__s390x__)
#define KNOWN_END "aghi %1, -1\n\tjne 1b\n\t"
#elif defined(__sparc__) && defined(__arch64__)
#define KNOWN_END "subcc %1, 1, %1\n\tbne,pt %%xcc, 1b\n\tnop\n\t"
#define LOOP_INSTRUCTIONS 7
#endif
#endif

/* clang for Windows on Arm must know the functions' lengths. */
#ifndef KNOWN_ALIGN
#define KNOWN_ALIGN ""
#endif

#define KNOWN(name, link, cycles)                                           \
	static void known_##name(unsigned long turns)                       \
	{                                                                   \
		size_t x = 3, n = turns;                                    \
                                                                            \
		__asm__ __volatile__(KNOWN_FENCE KNOWN_ALIGN                \
				     "1:\n\t.rept " KNOWN_LINKS "\n\t" link \
				     "\n\t.endr\n\t" KNOWN_END KNOWN_FENCE  \
				     : "+r"(x), "+r"(n)                     \
				     : "r"((size_t)5)                       \
				     : "cc", "memory");                     \
	}
KNOWN_CHAINS
#undef KNOWN

#define KNOWN(name, link, cycles) {#name, known_##name, cycles},
static const struct known known[] = {KNOWN_CHAINS{NULL, NULL, 0}};
#undef KNOWN

/* Whether this CPU can run all of the list. */
static inline bool known_usable(void)
{
#ifdef bit_SSE4_2
	unsigned a, b, c, d;

	/* Not __builtin_cpu_supports(): some systems lack a symbol of it. */
	if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_SSE4_2) == 0)
		return false;
#endif
	return known[0].loop != NULL;
}

/* Instructions that do not depend on each other: so many a turn; 0: not known.
 * An emulator that counts instructions takes as many cycles. */
#if !defined(KNOWN_END)
#define LOOP_INSTRUCTIONS 0
#define KNOWN_END ""
#elif !defined(LOOP_INSTRUCTIONS)
#define LOOP_INSTRUCTIONS 6
#endif

static inline void loop(unsigned long turns)
{
	size_t x = 0, n = turns; /* as wide as a register */

	do
		__asm__ __volatile__(
			"1:\n\tnop\n\tnop\n\tnop\n\tnop\n\t" KNOWN_END
			: "+r"(x), "+r"(n)
			:
			: "cc");
	while (LOOP_INSTRUCTIONS == 0 && --n > 0);
}

/* Takes as long as a chain without links. */
static inline void known_nothing(void)
{
	__asm__ __volatile__(KNOWN_FENCE KNOWN_FENCE ::: "memory");
}

#endif
