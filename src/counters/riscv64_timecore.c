/* SPDX-License-Identifier: 0BSD */
/* riscv64-timecore, riscv32-timecore: RDTIME, converted to core cycles by a
 * measured ratio. The device tree, but not ACPI, states the clock's rate. */
#include <config.h>
#include "../calibrated/count.h"
#include "../rate/stated_rate.h"
#include "riscv.h"

static long long riscv64_timecore_read(void)
{
	return (long long)cpuc_count(cpuc_riscv_ticks);
}

/* A run ends with a store of its result, which the fence orders before the
 * clock, a device input (RISC-V ISA Manual, vol. I, "CSR Access Ordering"). */
#define TIMECORE_RUN(name, links, link)                                  \
	static inline uint64_t name(size_t turns, uint64_t begun)        \
	{                                                                \
		size_t x = (size_t)begun;                                \
                                                                         \
		__asm__ volatile(".p2align 6\n"                          \
				 "1:\n\t"                                \
				 ".rept %3\n\t" link "\n\t"              \
				 ".endr\n\t"                             \
				 "addi %1, %1, -1\n\t"                   \
				 "bnez %1, 1b"                           \
				 : "+r"(x), "+r"(turns)                  \
				 : "r"((size_t)0x5a5a5a5a), "i"(links)); \
		__asm__ volatile("fence w, i" ::"m"(x) : "memory");      \
		return (uint64_t)cpuc_riscv_ticks();                     \
	}

#define TIMECORE_CHAIN(name, link)                                    \
	TIMECORE_RUN(timecore_##name##_brief, CPUC_BRIEF_LINKS, link) \
	TIMECORE_RUN(timecore_##name##_run, CPUC_RUN_LINKS, link)     \
	CPUC_CHAIN_STAMPS(timecore, name)

/* All have latency 1: SiFive U74-MC Core Complex Manual, "Instruction timing";
 * XuanTie C906 and C910 User Manuals. QEMU makes two or three instructions of
 * each of the last two. Left out: multiplies (3 to 5 cycles). */
TIMECORE_CHAIN(xor, "xor %0, %0, %2")
TIMECORE_CHAIN(add, "add %0, %0, %2")
TIMECORE_CHAIN(slt, "slt %0, %0, %2")
TIMECORE_CHAIN(sltu, "sltu %0, %0, %2")

/* Hardly any RISC-V core has SMT. */
CPUC_CHAINS(timecore, 0, CPUC_BRIEF_LINKS, CPUC_RUN_LOOP, NULL, NULL,
	    CPUC_CHAIN(timecore, xor, CPUC_BRIEF_LINKS),
	    CPUC_CHAIN(timecore, add, CPUC_BRIEF_LINKS),
	    CPUC_CHAIN(timecore, slt, CPUC_BRIEF_LINKS),
	    CPUC_CHAIN(timecore, sltu, CPUC_BRIEF_LINKS))

struct cpuc_clock cpuc_riscv_time = {
	.tick = cpuc_riscv_ticks,
	.stated = cpuc_stated_timebase,
	.chains = &timecore_chains,
};

CPUC_DEFINE_COUNTER(riscv64_timecore, CPUC_RISCV_NAME("timecore"),
		    .kind = CPUC_CALIBRATED, .clock = &cpuc_riscv_time)
