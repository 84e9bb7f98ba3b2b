/* SPDX-License-Identifier: 0BSD */
/* For programs in other languages: the fence, which is inline code of the
 * header, and the count, which is a variable there, as plain functions.
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
