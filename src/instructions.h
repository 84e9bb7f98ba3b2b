/* SPDX-License-Identifier: 0BSD */
/* Which of the counters that count instructions does so here. */
#ifndef CPUC_INSTRUCTIONS_H
#define CPUC_INSTRUCTIONS_H

#include "select.h"

/* Chooses one, as among counters of cycles. Under the lock, between
 * cpuc_probe_begin and cpuc_probe_end. */
void cpuc_instructions_choose(void);

/* Whether that has been done, and all of it is here: cpuc_first() says why it
 * might not be. */
bool cpuc_instructions_chosen(void);

/* The slot that was chosen, or, if none works, the last that was tried. NULL:
 * nothing has been chosen, or this build has none. */
struct cpuc_slot *cpuc_instructions_slot(void);

/* The counter that counts them. NULL: none can. */
const struct cpuc_counter *cpuc_instructions_counter(void);

#endif
