/* SPDX-License-Identifier: 0BSD */
/* The choice of a counter of instructions. */
#ifndef CPUC_INSTRUCTIONS_H
#define CPUC_INSTRUCTIONS_H

#include "select.h"

/* Chooses one, in the same way as for cycles. Under the lock, between
 * cpuc_probe_begin and cpuc_probe_end. */
void cpuc_instructions_choose(void);

/* Whether that has been done, and its result has arrived whole: first_call.h
 * says why it may not have. */
bool cpuc_instructions_chosen(void);

/* The chosen slot or, if none works, the last that was tried. NULL: nothing has
 * been chosen, or this build has no slots. */
struct cpuc_slot *cpuc_instructions_slot(void);

/* The counter in use. NULL: none works. */
const struct cpuc_counter *cpuc_instructions_counter(void);

#endif
