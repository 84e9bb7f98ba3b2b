/* SPDX-License-Identifier: 0BSD */
/* The calls upwards in the library.
 *
 * A thread on a weakly ordered CPU may run a new reader before it sees that
 * reader's state: the caller's own code loads `cpucycles`, and nothing orders
 * that load before ours. A reader that finds its state missing calls
 * cpuc_first(), whose lock orders everything. A child of fork may lack state as
 * well: its parent's other threads went on while its memory was copied. */
#ifndef CPUC_FIRST_CALL_H
#define CPUC_FIRST_CALL_H

/* The value of `cpucycles` before the first call: waits for a selection, or
 * makes it, and counts. */
long long cpuc_first(void);

/* The same for instructions; -1: there are none to count. Both are in
 * cpucycles.c. */
long long cpuc_first_instructions(void);

#endif
