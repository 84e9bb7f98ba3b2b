/* SPDX-License-Identifier: 0BSD */
#include <config.h>
#include "arithmetic.h"

void cpuc_sort(uint64_t *v, unsigned n)
{
	unsigned i, j;
	uint64_t x;

	for (i = 1; i < n; i++) {
		x = v[i];
		for (j = i; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

uint64_t cpuc_middle(uint64_t *v, unsigned n, unsigned need, uint32_t near)
{
	uint64_t sum = 0;
	unsigned i, used = 0;

	cpuc_sort(v, n);
	for (i = 0; i < n; i++)
		if (cpuc_apart(v[i], v[n / 2]) <= near) {
			sum += v[i];
			used++;
		}
	return used > 0 && used >= need ? sum / used : 0;
}
