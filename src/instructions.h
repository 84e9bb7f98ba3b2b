/* SPDX-License-Identifier: 0BSD */
/* The choice of a counter of instructions. */
#ifndef CPUC_INSTRUCTIONS_H
#define CPUC_INSTRUCTIONS_H

#include "select.h"

/* Chooses one as for cycles: under the lock, with the probe open. */
void cpuc_instructions_choose(void);

/* Whether that has been done, and has arrived whole: first_call.h. */
bool cpuc_instructions_chosen(void);

/* The chosen slot or, if none works, the last. NULL: not yet, or no slots. */
struct cpuc_slot *cpuc_instructions_slot(void);

/* The counter in use. NULL: none works. */
const struct cpuc_counter *cpuc_instructions_counter(void);

#endif
