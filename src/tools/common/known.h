/* SPDX-License-Identifier: 0BSD */
/* Chains of dependent instructions that take a known number of cycles,
 * to compare counts with. Not the instructions that the library calibrates
 * itself by. */
#ifndef CPUC_TOOLS_KNOWN_H
#define CPUC_TOOLS_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

struct known {
	const char *name;
	void (*loop)(unsigned long turns); /* NULL at the end of a list */
	unsigned long turn; /* cycles that a turn of the loop takes */
};

/* The cycles of a chain that is long enough: a multiple of every turn. */
#define KNOWN_CYCLES 90000

/* known_nothing() takes as long as a chain without links, and known_usable()
 * says whether this CPU can run all of the list. */

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* Latencies: AMD Software Optimization Guides for families 17h, 19h and 1Ah,
 * and the Intel 64 and IA-32 Architectures Optimization Reference Manual: 3 of
 * crc32 (SSE4.2), 1 of add of two registers. The loop's own instructions run
 * beside the chain. */
#define KNOWN(name, link)                                        \
	static void known_##name(unsigned long turns)            \
	{                                                        \
		unsigned long x = 3;                             \
                                                                 \
		__asm__ __volatile__("lfence\n\t"                \
				     ".p2align 6\n"              \
				     "1:\n\t"                    \
				     ".rept 100\n\t" link "\n\t" \
				     ".endr\n\t"                 \
				     "sub $1, %1\n\t"            \
				     "jnz 1b\n\t"                \
				     "lfence"                    \
				     : "+r"(x), "+r"(turns)      \
				     : "r"(5l)                   \
				     : "cc", "memory");          \
	}
KNOWN(crc32, "crc32l %k2, %k0")
KNOWN(add, "add %2, %0")

static const struct known known[] = {
	{"crc32", known_crc32, 300}, {"add", known_add, 100}, {NULL, NULL, 0}};

static inline void known_nothing(void)
{
	__asm__ __volatile__("lfence\n\tlfence" ::: "memory");
}

static inline bool known_usable(void)
{
	unsigned a, b, c, d;

	/* Not __builtin_cpu_supports(): some systems' linkers do not find a
	 * symbol that it needs. */
	return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
}
#elif defined(__aarch64__)
/* Latency 1: Arm Cortex-A and Neoverse Software Optimization Guides,
 * "Logical, basic" (orr) and "Arithmetic, basic" (add, adcs). An emulator takes
 * longer for the carry. A turn is so long that it hardly matters whether the
 * loop's own two instructions run beside the chain, as they mostly do, or take
 * a cycle each, as on an emulated machine. */
#define KNOWN(name, link)                                        \
	static void known_##name(unsigned long turns)            \
	{                                                        \
		unsigned long x = 3;                             \
                                                                 \
		__asm__ __volatile__("isb\n"                     \
				     "1:\n\t"                    \
				     ".rept 998\n\t" link "\n\t" \
				     ".endr\n\t"                 \
				     "subs %1, %1, #1\n\t"       \
				     "b.ne 1b\n\t"               \
				     "isb"                       \
				     : "+r"(x), "+r"(turns)      \
				     : "r"(5l)                   \
				     : "cc", "memory");          \
	}
KNOWN(orr, "orr %0, %0, %2")
KNOWN(add, "add %0, %0, %2")
KNOWN(adcs, "adcs %0, %0, %2")

static const struct known known[] = {{"orr", known_orr, 1000},
				     {"add", known_add, 1000},
				     {"adcs", known_adcs, 1000},
				     {NULL, NULL, 0}};

static inline void known_nothing(void)
{
	__asm__ __volatile__("isb\n\tisb" ::: "memory");
}

static inline bool known_usable(void)
{
	return true;
}
#else
static const struct known known[] = {{NULL, NULL, 0}};

static inline void known_nothing(void)
{
}

static inline bool known_usable(void)
{
	return false;
}
#endif

#endif
