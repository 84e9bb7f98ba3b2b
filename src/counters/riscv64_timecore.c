/* SPDX-License-Identifier: 0BSD */
/* riscv64-timecore, riscv32-timecore: RDTIME, converted to core cycles by a
 * measured ratio. The device tree states the clock's rate; with ACPI it is
 * measured. */
#include <config.h>
#include "../calibrated/count.h"
#include "../rate/stated_rate.h"
#include "riscv.h"

static long long riscv64_timecore_read(void)
{
	return (long long)cpuc_count(cpuc_riscv_ticks);
}

static uint64_t timecore_stated(void)
{
	return cpuc_stated_timebase("");
}

#define BRIEF 16 /* links in a turn of a short run */
#define LINKS (CPUC_LONG_RUN * BRIEF)

/* A run begins with the last run's stamp, and ends with a store of its result,
 * which the fence orders before the clock's reading, a device input (The RISC-V
 * Instruction Set Manual, Volume I, "CSR Access Ordering"). */
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

/* Both runs have the same number of turns, so they differ only in links. */
#define TIMECORE_CHAIN(name, link)                                   \
	TIMECORE_RUN(timecore_##name##_brief, BRIEF, link)           \
	TIMECORE_RUN(timecore_##name##_run, LINKS, link)             \
	static void timecore_##name##_window(uint32_t turns,         \
					     uint64_t stamp[3])      \
	{                                                            \
		stamp[0] = timecore_##name##_run(1, 0);              \
		stamp[0] = timecore_##name##_brief(1, stamp[0]);     \
		stamp[1] = timecore_##name##_brief(turns, stamp[0]); \
		stamp[2] = timecore_##name##_run(turns, stamp[1]);   \
	}                                                            \
	static void timecore_##name##_glimpse(uint32_t turns,        \
					      uint64_t stamp[2])     \
	{                                                            \
		stamp[0] = timecore_##name##_brief(1, 0);            \
		stamp[1] = timecore_##name##_brief(turns, stamp[0]); \
	}

/* All have latency 1: SiFive U74-MC Core Complex Manual, "Instruction timing";
 * XuanTie C906 and C910 User Manuals. QEMU makes two or three instructions of
 * each of the last two. Left out: multiplies (3 to 5 cycles). */
TIMECORE_CHAIN(xor, "xor %0, %0, %2")
TIMECORE_CHAIN(add, "add %0, %0, %2")
TIMECORE_CHAIN(slt, "slt %0, %0, %2")
TIMECORE_CHAIN(sltu, "sltu %0, %0, %2")

/* Hardly any RISC-V core has SMT. */
CPUC_CHAINS(timecore, 0, CPUC_CHAIN(timecore, xor, BRIEF),
	    CPUC_CHAIN(timecore, add, BRIEF), CPUC_CHAIN(timecore, slt, BRIEF),
	    CPUC_CHAIN(timecore, sltu, BRIEF))

struct cpuc_clock cpuc_riscv_time = {
	.tick = cpuc_riscv_ticks,
	.stated = timecore_stated,
	.chains = &timecore_chains,
};

CPUC_DEFINE_COUNTER(riscv64_timecore, CPUC_RISCV_NAME("timecore"),
		    .kind = CPUC_CALIBRATED, .clock = &cpuc_riscv_time)
