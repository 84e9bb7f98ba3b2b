/* SPDX-License-Identifier: 0BSD */
/* Measures core cycles per tick of a clock outside the core, by chains of
 * dependent instructions whose latency is known. */
#ifndef CPUC_CHAIN_H
#define CPUC_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/* Ratios are core cycles per tick, in fixed point with so many fraction bits:
 * 32 make the shift free on 32-bit hosts. */
#define CPUC_RATIO_BITS 32

/* A chain: each instruction needs the result of the one before it. Its two
 * loops of as many turns differ in links alone, so that the difference of the
 * times they take holds nothing else: no cycle of the loop's own instructions,
 * and no instruction where an emulator counts these. Each begins after earlier
 * instructions, and later instructions begin after its last link. */
struct cpuc_chain {
	void (*run)(uint32_t turns);   /* turns >= 1 */
	void (*brief)(uint32_t turns); /* the same with fewer links */
	uint32_t cycles; /* that a turn of run takes beyond one of brief */
};

/* What an architecture supplies: its clock; chains of different instructions
 * of documented latency, which must agree; and a steady chain, or NULL.
 *
 * Where another hardware thread shares the core, an instruction that should
 * start in each cycle now and then has to wait for one: measured on Zen 5, up
 * to 4% of the cycles. A chain of multiplications waits so much less that
 * nothing can be seen of it. But multiplying takes 3 cycles on one core and 5
 * on another, so a steady chain's `cycles` are those of a latency of 1, and its
 * latency is found by comparing it with the others. */
struct cpuc_chain_ops {
	long long (*tick)(void);
	const struct cpuc_chain *chain;
	unsigned nchains;
	const struct cpuc_chain *steady;
};

/* How windows are made on this machine: settled once in a process. */
struct cpuc_ruler {
	const struct cpuc_chain_ops *ops; /* NULL: not settled */
	uint64_t hz;                      /* ticks per second */
	uint64_t ratio;                 /* when it was made; CPUC_RATIO_BITS */
	const struct cpuc_chain *chain; /* of which windows are made */
	uint32_t latency;               /* cycles for each of chain->cycles */
	uint32_t turns;                 /* in a window */
	uint32_t step;  /* mean change from read to read of the clock, ticks */
	uint32_t reads; /* of the clock, averaged, at either end of a window */
	uint32_t noise; /* of a window, by the clock's step; 2^-20 of it */
	uint32_t span;  /* ticks that a window takes, about */
};

/* chain.c: the ratio in one window now; nonsense if the window was
 * interrupted; 0 if it is no ratio at all. */
uint64_t cpuc_window(const struct cpuc_ruler *r);

/* chain.c: brings a window's code into the caches and the predictors. */
void cpuc_window_warm(const struct cpuc_ruler *r);

/* chain.c: the ratio by n windows (at most CPUC_WINDOWS_MAX), with those left
 * out that are off their median; 0 when fewer than a third agree. */
#define CPUC_WINDOWS_MAX 48
uint64_t cpuc_windows(const struct cpuc_ruler *r, unsigned n);

/* chain.c: a - b, in 2^-20 of b, within +-2^20. */
int32_t cpuc_deviation(uint64_t a, uint64_t b);

/* chain.c: the rate in Hz of a core with this ratio; 0 where no core can have
 * it: outside 100 MHz ... 10 GHz. */
uint64_t cpuc_core_rate(const struct cpuc_ruler *r, uint64_t ratio);

/* ruler.c: settles all of *r but ops and hz, which are given. 0, or a negative
 * errno with *why in static storage: -EDOM chains disagree, by *permille;
 * -EAGAIN too noisy; -ERANGE no plausible rate. */
int cpuc_ruler_make(struct cpuc_ruler *r, const char **why, unsigned *permille);

#endif
