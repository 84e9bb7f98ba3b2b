/* SPDX-License-Identifier: 0BSD */
/* The library's upward calls.
 *
 * A thread on a weakly ordered CPU may run a new reader before it sees that
 * reader's state: the caller's own code loads `cpucycles`, and nothing orders
 * that load before ours. A reader that finds its state missing calls
 * cpuc_first(), whose lock orders everything. The child of a fork may lack
 * state as well: its parent's other threads ran on while its memory was copied.
 */
#ifndef CPUC_FIRST_CALL_H
#define CPUC_FIRST_CALL_H

/* The first value of `cpucycles`: makes the selection, or waits for the thread
 * that does, and counts. */
long long cpuc_first(void);

/* The same for instructions; -1: they cannot be counted. Both are in
 * cpucycles.c. */
long long cpuc_first_instructions(void);

#endif
