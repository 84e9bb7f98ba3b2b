/* SPDX-License-Identifier: 0BSD */
/* Whether a counter counts known instructions as many as they are. */
#ifndef CPUC_PROOF_H
#define CPUC_PROOF_H

struct cpuc_chain_ops;
struct cpuc_slot;

/* Tries a counter of core cycles or of instructions, whose step is known, by
 * these chains: 0, or -ENOTSUP and what it counts. If the chains disagree, as
 * under an emulator, nothing is known against it. Faults if their clock may not
 * be read. */
int cpuc_prove(struct cpuc_slot *slot, const struct cpuc_chain_ops *ops);

#endif
