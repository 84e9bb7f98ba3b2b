/* SPDX-License-Identifier: 0BSD */
/* Order statistics of measured values. */
#include <config.h>
#include <stdlib.h>
#include "stats.h"

static int ascending(const void *a, const void *b)
{
	long long x = *(const long long *)a, y = *(const long long *)b;

	return (x > y) - (x < y);
}

void stats_sort(long long *values, int n)
{
	qsort(values, (size_t)n, sizeof *values, ascending);
}

long long stats_quantile(const long long *sorted, int n, int part, int parts)
{
	return sorted[(long long)(n - 1) * part / parts];
}

long long stats_median(long long *values, int n)
{
	stats_sort(values, n);
	return stats_quantile(values, n, 1, 2);
}

double stats_iqm(const long long *sorted, int n)
{
	long long sum = 0;
	int i;

	for (i = n / 4; i < n - n / 4; i++)
		sum += sorted[i];
	return (double)sum / (n - n / 4 * 2);
}

/* Newton's method, from above. */
double stats_root(double x)
{
	double root = x < 1 ? 1 : x, next = (root + x / root) / 2;

	while (next < root) {
		root = next;
		next = (root + x / root) / 2;
	}
	return root;
}
