/* SPDX-License-Identifier: 0BSD */
/* Included before a test of a calibrated counter on an emulated machine, where
 * instructions have no latency: the counter's windows, and the chains of known
 * length that tests compare with, are made of the clock's own ticks. So the
 * ratio is 1; all the rest is real. */
#ifndef GIVEN_H
#define GIVEN_H

#include <config.h>
#include <stdbool.h>
#include <stdint.h>
#include "calibrated/chain.h"
#include "counters/x86.h"

/* In place of tools/common/known.h. */
#define CPUC_TOOLS_KNOWN_H
#define KNOWN_CYCLES 90000

/* Ticks between two readings that may be a thread's own: from more on, it was
 * interrupted. */
#define GIVEN_STEP 2000
#define GIVEN_TURN 100

struct known {
	const char *name;
	void (*loop)(unsigned long turns);
	unsigned long turn;
};

static inline bool known_usable(void)
{
	return true;
}

/* Never shorter than it should be, but for a step at each interruption. */
static void given_loop(unsigned long turns)
{
	int64_t left = (int64_t)turns * GIVEN_TURN;
	uint64_t last = __builtin_ia32_rdtsc(), now, step;

	for (; left > 0; last = now) {
		now = __builtin_ia32_rdtsc();
		step = now - last;
		left -= (int64_t)(step < GIVEN_STEP ? step : GIVEN_STEP);
	}
}

__attribute__((unused)) static const struct known known[] = {
	{"given", given_loop, GIVEN_TURN},
	{0},
};

static void given_glimpse(uint32_t turns, uint64_t stamp[2])
{
	stamp[0] = __builtin_ia32_rdtsc();
	stamp[1] = stamp[0] + (uint64_t)turns * GIVEN_TURN;
	while (__builtin_ia32_rdtsc() < stamp[1])
		;
}

/* As those of amd64_tsccore.c: a long run of 8 times a short one. */
static void given_window(uint32_t turns, uint64_t stamp[3])
{
	given_glimpse(turns * 9, stamp);
	stamp[2] = stamp[1];
	stamp[1] = stamp[0] + (uint64_t)turns * GIVEN_TURN;
}

static const struct cpuc_chain given_chain = {given_window, given_glimpse,
					      GIVEN_TURN, "given"};
static struct cpuc_chain_ops given_chains = {.chain = &given_chain,
					     .nchains = 1};

__attribute__((constructor)) static void given(void)
{
	given_chains.bare = cpuc_x86_tsc.chains->bare;
	cpuc_x86_tsc.chains = &given_chains;
}

#endif
