/* SPDX-License-Identifier: 0BSD */
/* Wide code of known length, for which some cores lower their rate: dependent
 * FMAs of the widest vectors that this CPU has. Three chains side by side are
 * enough for the lowest rate, and no unit of any CPU has to queue them. */
#ifndef WIDE_H
#define WIDE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "tools/common/known.h"
#include "tools/common/stats.h"

/* A piece of scalar code takes so many cycles, and a piece of wide code about
 * as many: 3 us. */
#define WIDE_PIECE 9000
#define WIDE_TRIES 10

static struct {
	const char *name; /* of the vectors */
	void (*loop)(unsigned long turns);
	unsigned latency; /* of an FMA, cycles: measured */
} wide;

#if defined(__x86_64__) || defined(__i386__)
#define WIDE_LINKS 25 /* of a turn */
#define WIDE_TURNS 90
#define WIDE_PAIRS 1001

/* All numbers are 0. */
#define WIDE_STEP(v, i) "vfmadd213pd %%" v "3, %%" v "3, %%" v i "\n\t"
#define WIDE_LOOP(isa, v)                                                      \
	__attribute__((target(isa))) static void wide_##v(unsigned long n)     \
	{                                                                      \
		size_t turns = n;                                              \
                                                                               \
		__asm__ __volatile__(                                          \
			"vpxor %%xmm0, %%xmm0, %%xmm0\n\t"                     \
			"vpxor %%xmm1, %%xmm1, %%xmm1\n\t"                     \
			"vpxor %%xmm2, %%xmm2, %%xmm2\n\t"                     \
			"vpxor %%xmm3, %%xmm3, %%xmm3\n\t" KNOWN_FENCE         \
				KNOWN_ALIGN                                    \
			"1:\n\t.rept 25\n\t" WIDE_STEP(#v, "0")                \
				WIDE_STEP(#v, "1") WIDE_STEP(                  \
					#v, "2") ".endr\n\tsub $1, %0\n\tjnz " \
						 "1b\n\t" KNOWN_FENCE          \
						 "vzeroupper"                  \
			: "+r"(turns)                                          \
			:                                                      \
			: "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3");     \
	}
WIDE_LOOP("avx512f", zmm)
WIDE_LOOP("avx2,fma", ymm)

/* Not __builtin_cpu_supports(): see known_usable(). The system must keep the
 * registers, too. */
static bool wide_find(void)
{
	unsigned a, b, c, d, kept, high;

	if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & bit_OSXSAVE) == 0 ||
	    (c & bit_FMA) == 0 || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
		return false;
	__asm__ __volatile__("xgetbv" : "=a"(kept), "=d"(high) : "c"(0));
	wide.name = "AVX2";
	wide.loop = wide_ymm;
	if ((b & bit_AVX512F) != 0 && (kept & 0xe6) == 0xe6) {
		wide.name = "AVX-512";
		wide.loop = wide_zmm;
	}
	return (b & bit_AVX2) != 0 && (kept & 6) == 6;
}

/* What an FMA takes, in 1/1000 of a cycle: by pairs of a wide and a scalar
 * piece, in which the core has one rate, as it leaves the lower one much later.
 */
static long long wide_measure(void)
{
	static long long v[WIDE_PAIRS];
	uint64_t t[3];
	int i;

	for (i = 0; i < WIDE_PAIRS; i++) {
		t[0] = __builtin_ia32_rdtsc();
		wide.loop(WIDE_TURNS);
		t[1] = __builtin_ia32_rdtsc();
		known->loop(WIDE_PIECE / known->turn);
		t[2] = __builtin_ia32_rdtsc();
		v[i] = (long long)((t[1] - t[0]) * WIDE_PIECE * 1000 /
				   ((t[2] - t[1]) * WIDE_TURNS * WIDE_LINKS));
	}
	return stats_median(v, WIDE_PAIRS);
}
#else
#define WIDE_LINKS 1
#define WIDE_TURNS 0

static bool wide_find(void)
{
	return false;
}

static long long wide_measure(void)
{
	return 0;
}
#endif

/* Whether latencies are whole numbers of cycles, but for a fiftieth, as they
 * are unless another hardware thread is in the way. */
static bool wide_know(void)
{
	const long long latency = wide_measure();

	wide.latency = (unsigned)((latency + 500) / 1000);
	return wide.latency > 0 &&
	       llabs(latency - wide.latency * 1000LL) <= latency / 50;
}

/* NULL, or why there is no wide code of known length here. */
static const char *wide_begin(void)
{
	int tries = WIDE_TRIES;

	if (!known_usable() || !wide_find())
		return "no wide instructions on this CPU";
	while (!wide_know())
		if (--tries == 0)
			return "no wide instruction of known latency here";
	return NULL;
}

/* Executes a piece; the cycles that its chain takes. */
static double wide_run(bool is_wide)
{
	const unsigned long turns =
		is_wide ? WIDE_TURNS : WIDE_PIECE / known->turn;

	if (!is_wide) {
		known->loop(turns);
		return (double)(turns * known->turn);
	}
	wide.loop(turns);
	return (double)(turns * WIDE_LINKS * wide.latency);
}

#endif
