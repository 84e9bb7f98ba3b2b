/* SPDX-License-Identifier: 0BSD */
/* The library's upward calls.
 *
 * A thread on a weakly ordered CPU may run a new reader before it sees that
 * reader's state: nothing orders the caller's load of `cpucycles` before our
 * loads. A reader that finds its state missing calls cpuc_first(), whose lock
 * orders everything. A child may lack state, too, if another thread of its
 * parent was selecting at the fork. */
#ifndef CPUC_FIRST_CALL_H
#define CPUC_FIRST_CALL_H

/* The first value of `cpucycles`: selects, or waits for who does. */
long long cpuc_first(void);

/* The same for instructions; -1: they cannot be counted. */
long long cpuc_first_instructions(void);

#endif
