/* SPDX-License-Identifier: 0BSD */
/* amd64-tsccore, x86-tsccore: RDTSC, converted to core cycles by a measured
 * ratio, for machines whose PMU cannot be read, such as most virtual ones. */
#include <config.h>
#include <cpuid.h>
#include "../calibrated/count.h"
#include "../system/os_clock.h"
#include "x86.h"

static inline long long tsccore_tick(void)
{
	return (long long)__builtin_ia32_rdtsc();
}

static long long amd64_tsccore_read(void)
{
	return (long long)cpuc_count(tsccore_tick);
}

#define LINKS 32                       /* of a turn */
#define LOOP (2 * (CPUC_LONG_RUN + 1)) /* sub and jnz, of a window's turn */

/* A run ends with the clock's reading. The first stamp is the end of a run,
 * too, so all but the links is the same in every run. lfence: no later
 * instruction starts before all earlier ones have completed. The loop's own sub
 * and jnz hide behind the chain. The first two runs are not timed: after other
 * work, the second takes 15 cycles more than later ones (measured on Zen 3). */
#define TSCCORE_CHAIN(name, link)                                              \
	static __attribute__((noinline))                                       \
	uint64_t tsccore_##name##_run(uint32_t turns)                          \
	{                                                                      \
		unsigned long x = 1;                                           \
		uint32_t low, high;                                            \
                                                                               \
		__asm__ volatile("lfence\n"                                    \
				 ".p2align 6\n"                                \
				 "1:\n\t"                                      \
				 ".rept 32\n\t" link "\n\t"                    \
				 ".endr\n\t"                                   \
				 "sub $1, %1\n\t"                              \
				 "jnz 1b\n\t"                                  \
				 "lfence\n\t"                                  \
				 "rdtsc\n\t"                                   \
				 "lfence"                                      \
				 : "+r"(x), "+r"(turns), "=&a"(low),           \
				   "=&d"(high)                                 \
				 : "r"(0x5a5a5a5al)                            \
				 : "cc", "memory");                            \
		return (uint64_t)high << 32 | low;                             \
	}                                                                      \
	static void tsccore_##name##_window(uint32_t turns, uint64_t stamp[3]) \
	{                                                                      \
		tsccore_##name##_run(1);                                       \
		stamp[0] = tsccore_##name##_run(1);                            \
		stamp[1] = tsccore_##name##_run(turns);                        \
		stamp[2] = tsccore_##name##_run(CPUC_LONG_RUN * turns);        \
	}                                                                      \
	static void tsccore_##name##_glimpse(uint32_t turns,                   \
					     uint64_t stamp[2])                \
	{                                                                      \
		stamp[0] = tsccore_##name##_run(1);                            \
		stamp[1] = tsccore_##name##_run(turns);                        \
	}

/* The 32-bit multiply takes 3 cycles on every core since Nehalem and Zen (4 on
 * Bulldozer, 5 on Bonnell, 2 on Zhaoxin's), and an SMT sibling does not
 * lengthen it. The others take 1, but not under an emulator. Left out: add, sub
 * and lea with an immediate (folded at rename on newer Intel cores), moves
 * (eliminated), rotates by one (two operations). Sources: AMD's Software
 * Optimization Guides (17h, 19h, 1Ah); Intel's Optimization Manual. */
TSCCORE_CHAIN(imul, "imul %k4, %k0")
TSCCORE_CHAIN(ror, "ror $(7), %0")
TSCCORE_CHAIN(xor, "xor %4, %0")
TSCCORE_CHAIN(not, "not %0")

#define SIGNATURE(a, b, c, d) \
	((unsigned)(a) | (b) << 8 | (c) << 16 | (unsigned)(d) << 24)

/* The leaf of the hypervisor's maximum and name, if there is one. */
#define HYPERVISOR 0x40000000

static uint64_t tsccore_stated(void)
{
	unsigned max, vendor, a, b, c, d;

	/* Leaf 0x40000010: the TSC's rate in kHz. */
	max = (unsigned)__get_cpuid_max(HYPERVISOR, &vendor);
	if (max >= 0x40000010 && max <= 0x400000ff) {
		__cpuid(0x40000010, a, b, c, d);
		if (a != 0)
			return (uint64_t)a * 1000;
	}
	/* Intel SDM vol. 2, CPUID leaf 0x15: the crystal's rate, ECX, and the
	 * TSC's ratio to it, EBX / EAX. AMD has no such leaf. */
	max = (unsigned)__get_cpuid_max(0, &vendor);
	if (max < 0x15 || vendor == SIGNATURE('A', 'u', 't', 'h'))
		return 0;
	__cpuid(0x15, a, b, c, d);
	return a != 0 && b != 0 && c != 0 ? (uint64_t)c * b / a : 0;
}

/* QEMU's code generator. */
static const char *tsccore_emulated(void)
{
	unsigned vendor = 0;

	__get_cpuid_max(HYPERVISOR, &vendor);
	return vendor == SIGNATURE('T', 'C', 'G', 'T')
		       ? "an emulated CPU: no instruction has a known latency"
		       : NULL;
}

#define LEAF1_HYPERVISOR (UINT32_C(1) << 31) /* ECX */

static bool tsccore_bare(void)
{
	unsigned a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) != 0 && !(c & LEAF1_HYPERVISOR);
}

/* An SMT sibling that never waits may leave one-cycle chains two cycles in
 * three. Measured: up to 7% longer on Sapphire Rapids, 4% on Zen 5. */
CPUC_CHAINS(tsccore, 400, LINKS, LOOP, tsccore_emulated, tsccore_bare,
	    CPUC_CHAIN(tsccore, imul, LINKS * 3),
	    CPUC_CHAIN(tsccore, ror, LINKS * 1),
	    CPUC_CHAIN(tsccore, xor, LINKS * 1),
	    CPUC_CHAIN(tsccore, not, LINKS * 1))

int cpuc_x86_open_tsc(struct cpuc_slot *slot)
{
	return cpuc_tsc_forbidden
		       ? cpuc_reason(slot, "RDTSC is forbidden in this process "
					   "by prctl(PR_SET_TSC)")
		       : 0;
}

struct cpuc_clock cpuc_x86_tsc = {
	.tick = tsccore_tick,
	.nominal = true,
	.stated = tsccore_stated,
	.chains = &tsccore_chains,
};

CPUC_DEFINE_COUNTER(amd64_tsccore, CPUC_X86_NAME("tsccore"),
		    .kind = CPUC_CALIBRATED, .clock = &cpuc_x86_tsc,
		    .open = cpuc_x86_open_tsc)
