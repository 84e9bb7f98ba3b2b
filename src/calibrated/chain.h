/* SPDX-License-Identifier: 0BSD */
/* Chains: instructions of known latency, each of which waits for the one
 * before. A counter's file has those of its architecture. */
#ifndef CPUC_CHAIN_H
#define CPUC_CHAIN_H

#include <stdbool.h>
#include <stdint.h>

/* window(): a short run of `turns` turns, and a long one, CPUC_LONG_RUN times
 * its links, with a stamp of the clock before, between and after; glimpse():
 * the short one. With l for its links and o for a run's overhead:
 *
 *   stamp[0] |- l + o -| stamp[1] |-------- 8 l + o --------| stamp[2]
 *
 * Each read of the clock is fenced from the chain. No call through a pointer
 * comes between, as it may be mispredicted. */
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
	const struct cpuc_chain *chain; /* chain[0 ... nchains) */
	unsigned nchains;
	unsigned slack; /* permille */

	/* Instructions of a turn, the same of all chains: its links, and what
	 * loops add to a window's turn. */
	unsigned links, loop;

	/* Why they cannot be trusted on this machine even if they agree; NULL,
	 * or returns NULL: they can. */
	const char *(*distrusted)(void);
	/* Whether this is no virtual machine, on which interrupts may come
	 * late; NULL: not known. */
	bool (*bare)(void);
};

/* How many may disagree with all others. */
static inline unsigned cpuc_chains_odd(const struct cpuc_chain_ops *ops)
{
	return ops->nchains > 2 ? 1 : 0;
}

/* Defines PREFIX_chains, of these CPUC_CHAIN(), and with these fields. */
#define CPUC_CHAINS(prefix, of_slack, of_links, of_loop, of_distrusted,    \
		    of_bare, ...)                                          \
	static const struct cpuc_chain prefix##_chain[] = {__VA_ARGS__};   \
	_Static_assert(sizeof prefix##_chain <=                            \
			       CPUC_CHAINS_MAX * sizeof *prefix##_chain,   \
		       "more chains than a proof has room for");           \
	static const struct cpuc_chain_ops prefix##_chains = {             \
		.chain = prefix##_chain,                                   \
		.nchains = sizeof prefix##_chain / sizeof *prefix##_chain, \
		.slack = of_slack,                                         \
		.links = of_links,                                         \
		.loop = of_loop,                                           \
		.distrusted = of_distrusted,                               \
		.bare = of_bare,                                           \
	};

#endif
