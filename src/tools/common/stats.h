/* SPDX-License-Identifier: 0BSD */
/* Order statistics of measured values. */
#ifndef STATS_H
#define STATS_H

/* Sorts values in place, ascending. */
void stats_sort(long long *values, int n);

/* Of sorted values: the one that part/parts of all are not above, so 1, 2 is
 * the median; n > 0. */
long long stats_quantile(const long long *sorted, int n, int part, int parts);

/* Of sorted values: the mean of the middle half, what is typical, whatever the
 * few took that were interrupted; n > 0. */
double stats_iqm(const long long *sorted, int n);

#endif
