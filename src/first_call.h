/* SPDX-License-Identifier: 0BSD */
/* The one call upwards in the library.
 *
 * A thread on a weakly ordered CPU may run a new reader before it sees that
 * reader's state: the caller's own code loads `cpucycles`, and nothing orders
 * that load before ours. A reader that finds its state missing calls
 * cpuc_first(), whose lock orders everything. It is in cpucycles.c. */
#ifndef CPUC_FIRST_CALL_H
#define CPUC_FIRST_CALL_H

/* The value of `cpucycles` before the first call: waits for a selection, or
 * makes it, and counts. */
long long cpuc_first(void);

#endif
