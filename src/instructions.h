/* SPDX-License-Identifier: 0BSD */
/* The choice of a counter of instructions. */
#ifndef CPUC_INSTRUCTIONS_H
#define CPUC_INSTRUCTIONS_H

#include "select.h"

/* Chooses one as for cycles: under the lock, with the probe open. */
void cpuc_instructions_choose(void);

/* Whether one was chosen, and has arrived whole: slot.h. *c: it, or NULL. */
bool cpuc_instructions_chosen(const struct cpuc_counter **c);

/* The chosen slot or, if none works, the last. NULL: not yet, or no slots. */
struct cpuc_slot *cpuc_instructions_slot(void);

#endif
