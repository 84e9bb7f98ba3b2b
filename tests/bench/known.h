/* SPDX-License-Identifier: 0BSD */
/* Chains of dependent instructions that take a known number of cycles: the
 * truth that counts are held against. Other instructions than those that the
 * library calibrates itself by. */
#ifndef KNOWN_H
#define KNOWN_H

#define KNOWN_CYCLES 90000

struct known {
	const char *name;
	void (*run)(void); /* NULL at the end of a list */

	/* For other lengths: so many turns of the loop, of 100 cycles times
	 * the latency each. */
	void (*loop)(unsigned long turns);
	unsigned long latency;
};

#if defined(__x86_64__) || defined(__i386__)
/* Latencies: AMD Software Optimization Guides for families 17h, 19h and 1Ah,
 * and the Intel 64 and IA-32 Architectures Optimization Reference Manual: 3 of
 * crc32 (SSE4.2), 1 of add of two registers. The loop's own instructions run
 * beside the chain. */
#define KNOWN(name, link, latency)                                         \
	static void known_##name##_loop(unsigned long turns)               \
	{                                                                  \
		unsigned long x = 3;                                       \
                                                                           \
		__asm__ __volatile__("lfence\n\t"                          \
				     ".p2align 6\n"                        \
				     "1:\n\t"                              \
				     ".rept 100\n\t" link "\n\t"           \
				     ".endr\n\t"                           \
				     "sub $1, %1\n\t"                      \
				     "jnz 1b\n\t"                          \
				     "lfence"                              \
				     : "+r"(x), "+r"(turns)                \
				     : "r"(5l)                             \
				     : "cc", "memory");                    \
	}                                                                  \
	static void known_##name(void)                                     \
	{                                                                  \
		known_##name##_loop(KNOWN_CYCLES / latency / 100);         \
	}
KNOWN(crc32, "crc32l %k2, %k0", 3)
KNOWN(add, "add %2, %0", 1)

static const struct known known[] = {
	{"crc32", known_crc32, known_crc32_loop, 3},
	{"add", known_add, known_add_loop, 1},
	{NULL, NULL, NULL, 0}};

static inline void known_nothing(void)
{
	__asm__ __volatile__("lfence\n\tlfence" ::: "memory");
}
#elif defined(__aarch64__)
/* Latency 1: Arm Cortex-A and Neoverse Software Optimization Guides,
 * "Logical, basic" (orr, and) and "Arithmetic, basic" (add). */
#define KNOWN(name, link)                                        \
	static void known_##name##_loop(unsigned long turns)     \
	{                                                        \
		unsigned long x = 3;                             \
                                                                 \
		__asm__ __volatile__("isb\n"                     \
				     "1:\n\t"                    \
				     ".rept 98\n\t" link "\n\t"  \
				     ".endr\n\t"                 \
				     "subs %1, %1, #1\n\t"       \
				     "b.ne 1b\n\t"               \
				     "isb"                       \
				     : "+r"(x), "+r"(turns)      \
				     : "r"(5l)                   \
				     : "cc", "memory");          \
	}                                                        \
	static void known_##name(void)                           \
	{                                                        \
		known_##name##_loop(KNOWN_CYCLES / 100);         \
	}
KNOWN(orr, "orr %0, %0, %2")
KNOWN(add, "add %0, %0, %2")

static const struct known known[] = {
	{"orr", known_orr, known_orr_loop, 1},
	{"add", known_add, known_add_loop, 1},
	{NULL, NULL, NULL, 0}};

static inline void known_nothing(void)
{
	__asm__ __volatile__("isb\n\tisb" ::: "memory");
}
#else
static const struct known known[] = {{NULL, NULL, NULL, 0}};

static inline void known_nothing(void)
{
}
#endif

#endif
