/* SPDX-License-Identifier: 0BSD */
/* Order statistics of measured values. */
#ifndef STATS_H
#define STATS_H

/* Sorts values in place, ascending. */
void stats_sort(long long *values, int n);

/* The quantile part/parts of n > 0 sorted values: 1, 2 is the median. */
long long stats_quantile(const long long *sorted, int n, int part, int parts);

/* Sorts n > 0 values; their median. */
long long stats_median(long long *values, int n);

/* The interquartile mean of n > 0 sorted values: outliers do not change it. */
double stats_iqm(const long long *sorted, int n);

/* The square root of a number >= 0, without libm. */
double stats_root(double x);

#endif
