/* SPDX-License-Identifier: 0BSD */
/* arm64-vctcore: CNTVCT_EL0, converted to core cycles by a measured ratio. */
#include <config.h>
#include "../calibrated/count.h"
#include "arm64.h"

static long long arm64_vctcore_read(void)
{
	return (long long)cpuc_count(cpuc_arm64_ticks);
}

/* The upper half of the register is reserved. */
static uint64_t vctcore_stated(void)
{
	uint64_t frequency;

	__asm__("mrs %0, cntfrq_el0" : "=r"(frequency));
	return (uint32_t)frequency;
}

/* The cbz makes the isb wait for the chain: isb completes only after the branch
 * before it, which needs the chain's result. */
#define VCTCORE_RUN(name, links, link)                                \
	static inline uint64_t name(uint32_t turns, uint64_t begun)   \
	{                                                             \
		uint64_t x = begun, t;                                \
                                                                      \
		__asm__ volatile("isb\n"                              \
				 ".p2align 6\n"                       \
				 "1:\n\t"                             \
				 ".rept %4\n\t" link "\n\t"           \
				 ".endr\n\t"                          \
				 "subs %w1, %w1, #1\n\t"              \
				 "b.ne 1b\n\t"                        \
				 "cbz %0, 2f\n"                       \
				 "2:\n\t"                             \
				 "isb\n\t"                            \
				 "mrs %2, cntvct_el0\n\t"             \
				 "isb"                                \
				 : "+r"(x), "+r"(turns), "=r"(t)      \
				 : "r"(UINT64_C(0x5a5a5a5a5a5a5a5a)), \
				   "i"(links)                         \
				 : "cc", "memory");                   \
		return t;                                             \
	}

#define VCTCORE_CHAIN(name, link)                                   \
	VCTCORE_RUN(vctcore_##name##_brief, CPUC_BRIEF_LINKS, link) \
	VCTCORE_RUN(vctcore_##name##_run, CPUC_RUN_LINKS, link)     \
	CPUC_CHAIN_STAMPS(vctcore, name)

/* All have latency 1: Arm Cortex-A and Neoverse Software Optimization Guides,
 * "Logical, basic" (eor, eon, orn) and "Arithmetic, basic" (sub). On x86 QEMU
 * makes two instructions of eon and orn. Left out: eor and add with a shifted
 * operand (2 cycles on many Cortex cores), moves (eliminated at rename), and
 * multiplies (2 cycles on one core and 5 on another of the same machine). */
VCTCORE_CHAIN(eor, "eor %0, %0, %3")
VCTCORE_CHAIN(sub, "sub %0, %0, %3")
VCTCORE_CHAIN(eon, "eon %0, %0, %3")
VCTCORE_CHAIN(orn, "orn %0, %3, %0")

/* Hardly any Arm core has SMT. */
CPUC_CHAINS(vctcore, 0, CPUC_BRIEF_LINKS, CPUC_RUN_LOOP, NULL, NULL,
	    CPUC_CHAIN(vctcore, eor, CPUC_BRIEF_LINKS),
	    CPUC_CHAIN(vctcore, sub, CPUC_BRIEF_LINKS),
	    CPUC_CHAIN(vctcore, eon, CPUC_BRIEF_LINKS),
	    CPUC_CHAIN(vctcore, orn, CPUC_BRIEF_LINKS))

struct cpuc_clock cpuc_arm64_cntvct = {
	.tick = cpuc_arm64_ticks,
	.stated = vctcore_stated,
	.chains = &vctcore_chains,
};

CPUC_DEFINE_COUNTER(arm64_vctcore, "arm64-vctcore", .kind = CPUC_CALIBRATED,
		    .clock = &cpuc_arm64_cntvct)
