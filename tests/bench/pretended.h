/* SPDX-License-Identifier: 0BSD */
/* The library's paths to counters that this machine lacks. */
#ifndef PRETENDED_H
#define PRETENDED_H

/* The entry of a counter of so many bits, with so many cycles a tick. */
long long (*pretended_composed(unsigned bits, unsigned ratio))(void);

/* The reader of a perf event whose page is mapped; NULL: there is none on this
 * system. */
long long (*pretended_perf(void))(void);

/* A calibrated count looks at the core's rate every now and then, and time runs
 * while steps are taken: not in the next call. */
void pretended_hold(void);

#endif
