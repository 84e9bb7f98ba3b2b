/* SPDX-License-Identifier: 0BSD */
/* For programs in other languages: plain functions for the fence, which is
 * inline code in the header, and for the count, which is a variable there.
 *
 * cc -O2 -shared -fPIC -o libfence.so fence.c -lcpucycles */
#include <cpucycles.h>

void fence(void)
{
	cpucycles_fence();
}

long long count(void)
{
	return cpucycles();
}
