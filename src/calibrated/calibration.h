/* SPDX-License-Identifier: 0BSD */
/* Core cycles per tick of a clock outside the core, measured by chains of
 * instructions of known latency, each of which waits for the one before. */
#ifndef CPUC_CALIBRATION_H
#define CPUC_CALIBRATION_H

#include <stdbool.h>
#include <stdint.h>

struct cpuc_clock;
struct cpuc_slot;

/* Ratios are core cycles per tick, in fixed point with so many fraction bits:
 * 32 make the shift free on 32-bit hosts. */
#define CPUC_RATIO_BITS 32

/* window(): a short run of `turns` turns, and a long one, CPUC_LONG_RUN times
 * its links, with a stamp of the clock before, between and after; glimpse():
 * the short one. With l for its links and o for a run's overhead:
 *
 *   stamp[0] |- l + o -| stamp[1] |-------- 8 l + o --------| stamp[2]
 *
 * Each read is fenced from the chain. No call through a pointer comes between,
 * as it may be mispredicted. */
struct cpuc_chain {
	void (*window)(uint32_t turns, uint64_t stamp[3]); /* turns >= 1 */
	void (*glimpse)(uint32_t turns, uint64_t stamp[2]);
	uint32_t cycles;  /* core cycles of a turn's links */
	const char *name; /* the instruction's */
};

#define CPUC_LONG_RUN 8u

/* The chain that PREFIX_LINK_window() and PREFIX_LINK_glimpse() run. */
#define CPUC_CHAIN(prefix, link, n)                                  \
	{                                                            \
		.window = prefix##_##link##_window,                  \
		.glimpse = prefix##_##link##_glimpse, .cycles = (n), \
		.name = #link,                                       \
	}

/* Its window and glimpse, by a short and a long run, PREFIX_LINK_brief() and
 * PREFIX_LINK_run(), of the same number of turns: then they differ only in
 * links. Each takes the last stamp and returns its own. */
#define CPUC_BRIEF_LINKS 16 /* of a turn */
#define CPUC_RUN_LINKS (CPUC_LONG_RUN * CPUC_BRIEF_LINKS)
#define CPUC_RUN_LOOP 4 /* instructions of both runs' loops, a turn */
#define CPUC_CHAIN_STAMPS(prefix, link)                              \
	static void prefix##_##link##_glimpse(uint32_t turns,        \
					      uint64_t stamp[2])     \
	{                                                            \
		stamp[0] = prefix##_##link##_brief(1, 0);            \
		stamp[1] = prefix##_##link##_brief(turns, stamp[0]); \
	}                                                            \
	static void prefix##_##link##_window(uint32_t turns,         \
					     uint64_t stamp[3])      \
	{                                                            \
		stamp[0] = prefix##_##link##_run(1, 0);              \
		stamp[0] = prefix##_##link##_brief(1, stamp[0]);     \
		stamp[1] = prefix##_##link##_brief(turns, stamp[0]); \
		stamp[2] = prefix##_##link##_run(turns, stamp[1]);   \
	}

/* An architecture's chains. All but one must agree, as some CPU has another
 * latency for it; else no latency is known, as under an emulator. Windows run
 * the first, or the second if the first is the odd one. An SMT sibling makes
 * those after the first longer, by `slack` at most. */
#define CPUC_CHAINS_MAX 4
struct cpuc_chain_ops {
	const struct cpuc_chain *chain;
	unsigned nchains;
	unsigned slack; /* permille */

	/* Instructions of a turn, the same of all chains: its links, and what
	 * loops add to a window's turn. */
	unsigned links, loop;
};

/* Constant once `clock` is set, but for the last two, which are atomic. */
struct cpuc_calibration {
	const struct cpuc_clock *clock; /* NULL: not calibrated */
	const struct cpuc_chain *chain; /* of all windows */
	uint64_t hz;                    /* ticks per second */
	uint64_t ratio;                 /* cycles per tick << CPUC_RATIO_BITS */
	uint64_t measured_at;           /* the tick of that */
	uint32_t turns;                 /* of a window */
	uint32_t window_ticks;          /* its long run less its short one */
	uint32_t grain;           /* the clock's resolution, 2^-20 of that */
	uint32_t glimpse_turns;   /* the same for a glimpse */
	uint32_t glimpse_grain;   /* 2^-20 of its links */
	int32_t glimpse_overhead; /* cpuc_glimpse_overhead() at that ratio */
	uint32_t glimpse_cost; /* ticks, with all that a count does for one */
	uint32_t switch_hides; /* ticks, of what the thread ran */
	bool thread_clock; /* false: there is none, or it was seen to leap */
	uint8_t stood;     /* watches in which it stood, and did not leap */
};

extern struct cpuc_calibration cpuc_calibration;

/* Calibrates by a clock that has chains, once a process: 0, or -errno and the
 * reason. Under the lock; may fault. */
int cpuc_calibrate(struct cpuc_slot *slot);

/* The rate of a core with this ratio, Hz; 0: not plausible. */
uint64_t cpuc_core_hz(const struct cpuc_calibration *s, uint64_t ratio);

/* `turns`, scaled to take as long at `near_ratio` as they do at s->ratio; and
 * the cycles of a short run's links, with so many fraction bits. */
uint32_t cpuc_calibration_turns(const struct cpuc_calibration *s,
				uint32_t turns, uint64_t near_ratio);
uint64_t cpuc_links_cycles(const struct cpuc_calibration *s, uint32_t turns);
#define CPUC_OVERHEAD_BITS 4

/* What a glimpse takes beyond its links, in cycles << CPUC_OVERHEAD_BITS: about
 * the same each time if the ratio is `mean`. */
int32_t cpuc_glimpse_overhead(const struct cpuc_calibration *s, uint64_t mean);

/* By how much that differs if the ratio differs by so many 2^-20. */
int32_t cpuc_glimpse_part(const struct cpuc_calibration *s, uint64_t mean,
			  uint32_t part);

/* Whether a glimpse is made in the guard: where one store cannot change the
 * tick at which an interval began. */
#define CPUC_GLIMPSE_GUARDED (sizeof(uintptr_t) < sizeof(uint64_t))

/* Whether the thread's clock advances as this one: some have steps of ms. */
bool cpuc_calibration_thread_clock(long long (*tick)(void), uint64_t hz);

bool cpuc_calibration_done(void);

/* This thread's core's rate now, Hz, by a few windows; 0: they disagree. */
uint64_t cpuc_calibration_hz(void);

/* The mean of those of v[] `near` their median; 0: fewer than `need` (> 0) are.
 * Sorts v. */
uint64_t cpuc_middle(uint64_t *v, unsigned n, unsigned need, uint32_t near);

#define CPUC_PERMILLE(n) ((n) * (UINT32_C(1) << 20) / 1000)

/* |a - b| in 2^-20 of b, at most 2^20, as `near` is. */
static inline uint32_t cpuc_apart(uint64_t a, uint64_t b)
{
	uint64_t d = a > b ? a - b : b - a;

	if (d >= b)
		return UINT32_C(1) << 20;
	for (; b >> 43 != 0; b /= 2)
		d /= 2;
	return (uint32_t)((d << 20) / b);
}

static inline uint64_t cpuc_min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* a - b, but not less than 0: a core's clock may be behind another one's. */
static inline uint64_t cpuc_sub_sat(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b) < 0 ? 0 : a - b;
}

#endif
