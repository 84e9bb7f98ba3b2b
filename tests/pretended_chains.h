/* SPDX-License-Identifier: 0BSD */
/* Pretended CPUs, whose chains take other times than they should, for tests of
 * whether a counter counts them. The test defines works(). */
#ifndef PRETENDED_CHAINS_H
#define PRETENDED_CHAINS_H

#include <stdbool.h>
#include "calibrated/chain.h"
#include "tap.h"

/* So much work passes. */
static void works(uint64_t cycles, uint64_t instructions);

#define CHAINS 4
#define FAR                                                               \
	1000000 /* cycles that others take, or another core's count lacks \
		 */

enum chains { X86_CHAINS, ARM_CHAINS };

static const struct pretended_cpu {
	const char *what;
	enum chains of;
	int permille[CHAINS]; /* that links take, of what they should */
	unsigned loop;        /* cycles of a turn's loops */
	int64_t others;       /* in three windows of five */
	bool emulated;        /* no latency is known */
} cpus[] = {
	{"x86", X86_CHAINS, {1000, 1000, 1000, 1000}, 0, 0, false},
	{"x86, interrupted",
	 X86_CHAINS,
	 {1000, 1000, 1000, 1000},
	 0,
	 FAR,
	 false},
	{"x86, moved", X86_CHAINS, {1000, 1000, 1000, 1000}, 0, -FAR, false},
	{"x86, SMT", X86_CHAINS, {1000, 1300, 1390, 1050}, 0, 0, false},
	{"x86, SMT, all chains",
	 X86_CHAINS,
	 {1150, 1330, 1380, 1210},
	 18,
	 0,
	 false},
	{"arm64, SMT", ARM_CHAINS, {1300, 1320, 1280, 1310}, 4, 0, false},
	{"Zhaoxin", X86_CHAINS, {667, 1000, 1000, 1000}, 0, 0, false},
	{"Bonnell", X86_CHAINS, {1667, 1000, 1000, 1000}, 18, 0, false},
	{"x86, -icount", X86_CHAINS, {333, 1000, 1000, 1000}, 18, 0, false},
	{"x86, no two chains agree twice",
	 X86_CHAINS,
	 {400, 700, 710, 950},
	 0,
	 0,
	 true},
	{"x86, all take three cycles",
	 X86_CHAINS,
	 {1000, 3000, 3000, 3000},
	 0,
	 0,
	 true},
	{"arm64", ARM_CHAINS, {1000, 1000, 1000, 1000}, 0, 0, false},
	{"arm64, one is slow",
	 ARM_CHAINS,
	 {2000, 1000, 1000, 1000},
	 0,
	 0,
	 false},
	{"arm64, -icount", ARM_CHAINS, {1000, 1000, 1000, 1000}, 4, 0, false},
	{"riscv64, in order",
	 ARM_CHAINS,
	 {1000, 1000, 1000, 1000},
	 8,
	 0,
	 false},
	{"riscv64, interrupted",
	 ARM_CHAINS,
	 {1000, 1000, 1000, 1000},
	 4,
	 FAR,
	 false},
	{"arm64, emulated", ARM_CHAINS, {400, 410, 800, 790}, 2, 0, true},
	{"riscv64, emulated", ARM_CHAINS, {2100, 2200, 5000, 4400}, 9, 0, true},
};

static const struct pretended_cpu *the_cpu = cpus;
static unsigned windows_made;

/* Beside its turns a window takes 300 cycles for 60 instructions. */
static void chain_works(const struct cpuc_chain_ops *of, unsigned i,
			uint64_t turns)
{
	const bool quiet = windows_made++ % 5 < 2;
	const uint64_t links = (CPUC_LONG_RUN + 1) * of->chain[i].cycles;

	works(300 +
		      turns * (links * (unsigned)the_cpu->permille[i] / 1000 +
			       the_cpu->loop) +
		      (uint64_t)(quiet ? 0 : the_cpu->others),
	      60 + turns * ((CPUC_LONG_RUN + 1) * of->links + of->loop));
}

static const struct cpuc_chain_ops pretended_ops[2];

#define PRETENDED_CHAIN(i)                                          \
	static void window_##i(uint32_t turns, uint64_t stamp[3])   \
	{                                                           \
		(void)stamp;                                        \
		chain_works(&pretended_ops[the_cpu->of], i, turns); \
	}
/* clang-format off */
PRETENDED_CHAIN(0)
PRETENDED_CHAIN(1)
PRETENDED_CHAIN(2)
PRETENDED_CHAIN(3)
/* clang-format on */

#define FOUR_CHAINS(links, latency)                           \
	{                                                     \
		{window_0, NULL, (links) * (latency), "one"}, \
			{window_1, NULL, links, "two"},       \
			{window_2, NULL, links, "three"},     \
			{window_3, NULL, links, "four"},      \
	}
static const struct cpuc_chain chains_of[2][CHAINS] = {FOUR_CHAINS(32, 3),
						       FOUR_CHAINS(16, 1)};
static const struct cpuc_chain_ops pretended_ops[2] = {
	{.chain = chains_of[X86_CHAINS],
	 .nchains = CHAINS,
	 .slack = 400,
	 .links = 32,
	 .loop = 18},
	{.chain = chains_of[ARM_CHAINS],
	 .nchains = CHAINS,
	 .links = 16,
	 .loop = 4},
};

#endif
