/* SPDX-License-Identifier: 0BSD */
/* Virtual PMUs may count a half, a part, or nothing, without an error, so each
 * counter of core cycles or instructions has to count the chains.
 *
 * The least window is subtracted from a longer one: what remains are links and
 * loops, without the reader's own time, the fences and the calls. Interrupts
 * add to it, and another core's raw counter may take away, so the best of
 * several tries counts. */
#include <config.h>
#include <stdint.h>
#include <stdlib.h>
#include "../arithmetic.h"
#include "../slot.h"
#include "chain.h"
#include "constants.h"
#include "proof.h"

/* In cycles, as all here is. A reader's time scatters, at most by itself. */
#define PROOF_LENGTH 6000
#define PROOF_STEPS 16          /* at least so many of the reader's steps */
#define PROOF_LENGTH_MAX 500000 /* a step beyond is a coarse counter's */

#define PROOF_LOOP 3      /* at most, for each instruction of a loop */
#define PROOF_SIBLING 400 /* permille that an SMT sibling may add to all */

#define PROOF_ALL 1000    /* permille */
#define PROOF_OFF 20      /* that a count of cycles may be off */
#define PROOF_OFF_LESS 10 /* of instructions, or if it may be a clock */

struct proof {
	const struct cpuc_counter *counter;
	const struct cpuc_chain_ops *ops;
	bool instructions;
	uint64_t step;
	int off; /* permille, of all chains */
};

/* What a chain was counted as. */
struct proof_seen {
	uint64_t count, expected;
	int part; /* permille */
	bool right;
};

/* Of each turn of a window. */
static uint64_t proof_turn(const struct proof *p,
			   const struct cpuc_chain *chain)
{
	return p->instructions
		       ? (CPUC_LONG_RUN + 1) * p->ops->links + p->ops->loop
		       : (CPUC_LONG_RUN + 1) * chain->cycles;
}

static uint64_t proof_run(const struct proof *p, const struct cpuc_chain *chain,
			  uint32_t turns)
{
	uint64_t stamp[3], begun, least, all;

	begun = (uint64_t)p->counter->read();
	chain->window(1, stamp);
	least = (uint64_t)p->counter->read();
	chain->window(1 + turns, stamp);
	all = (uint64_t)p->counter->read() - least;
	least -= begun;
	return all - least;
}

/* More than the links: an in-order core, or an emulator, takes cycles for the
 * loops' own instructions, and for taken branches; an SMT sibling takes some
 * from all chains but the first. */
static int proof_more(const struct proof *p, const struct cpuc_chain *chain)
{
	if (p->instructions || p->counter->strict)
		return 0;
	return (int)(PROOF_LOOP * p->ops->loop * PROOF_ALL /
		     proof_turn(p, chain)) +
	       (chain != p->ops->chain ? (int)p->ops->slack : 0);
}

static struct proof_seen proof_try(const struct proof *p,
				   const struct cpuc_chain *chain)
{
	const uint64_t length = cpuc_min(PROOF_STEPS * p->step + PROOF_LENGTH,
					 PROOF_LENGTH_MAX);
	const uint64_t turn = proof_turn(p, chain);
	const uint32_t turns = (uint32_t)(length / turn);
	const int scatter = (int)cpuc_min(p->step * PROOF_ALL / (turns * turn),
					  PROOF_ALL / PROOF_STEPS);
	const int least = PROOF_ALL - p->off - scatter;
	const int most = PROOF_ALL + p->off + scatter + proof_more(p, chain);
	struct proof_seen best = {.part = CHAIN_OFF_MAX}, seen;
	uint64_t stamp[3];

	chain->window(1, stamp); /* its code is in the cache */
	for (int i = 0; i < CHAIN_TRIES && !best.right; i++) {
		seen.count = proof_run(p, chain, turns);
		seen.expected = turns * turn;
		seen.part = (int)cpuc_min(
			seen.count * PROOF_ALL / seen.expected, CHAIN_OFF_MAX);
		seen.right = seen.part >= least && seen.part <= most;
		if (abs(seen.part - PROOF_ALL) <= abs(best.part - PROOF_ALL))
			best = seen;
	}
	return best;
}

/* Whether all chains but one are counted as the one at `by` is. An SMT sibling
 * may lengthen those after the first. */
static bool proof_agreed(const struct proof *p, const struct proof_seen *seen,
			 unsigned by)
{
	const unsigned n = p->ops->nchains;
	const int part = seen[by].part, less = 1 + part * CHAIN_OFF / PROOF_ALL;
	int more = CHAIN_OFF;
	unsigned i, odd = 0;

	if (by == 0)
		more += (int)p->ops->slack;
	more = 1 + part * more / PROOF_ALL;
	for (i = 0; i < n; i++)
		odd += seen[i].part < part - less || seen[i].part > part + more;
	return odd <= cpuc_chains_odd(p->ops);
}

static int proof_refuse(struct cpuc_slot *slot, const struct proof *p,
			const struct proof_seen *seen)
{
	return cpuc_reason(slot, "counts %llu of %llu %s: a virtual PMU?",
			   (unsigned long long)seen->count,
			   (unsigned long long)seen->expected,
			   p->instructions ? "instructions" : "cycles");
}

CPUC_COLD int cpuc_prove(struct cpuc_slot *slot,
			 const struct cpuc_chain_ops *ops)
{
	const struct cpuc_counter *c = slot->counter;
	struct proof p = {.counter = c,
			  .ops = ops,
			  .instructions = c->cycles != NULL || c->pair != NULL,
			  .step = (uint64_t)slot->trial.step,
			  .off = PROOF_OFF};
	struct proof_seen seen[CPUC_CHAINS_MAX];
	unsigned i, by;

	if (p.instructions || c->strict)
		p.off = PROOF_OFF_LESS;
	for (i = 0; i < ops->nchains; i++) {
		seen[i] = proof_try(&p, &ops->chain[i]);
		/* What looks like an SMT sibling's part may be a clock's. The
		 * first chain, at which siblings hardly take part, decides. */
		if (c->strict)
			return seen[0].right ? 0 : proof_refuse(slot, &p, seen);
		/* Two are enough; the second may take longer, as under an
		 * emulator, but not less than a cycle a link. */
		if (i == 1 && seen[0].right &&
		    (seen[i].right || seen[i].part > PROOF_ALL))
			return 0;
	}
	/* By another one if the first's latency is not known on this CPU. */
	for (by = 0; by < ops->nchains; by++) {
		if (!proof_agreed(&p, seen, by))
			continue;
		if (seen[by].right ||
		    (!p.instructions && seen[by].part > PROOF_ALL &&
		     seen[by].part <= PROOF_ALL + PROOF_SIBLING))
			return 0;
		return proof_refuse(slot, &p, &seen[by]);
	}
	return 0;
}
