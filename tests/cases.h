/* SPDX-License-Identifier: 0BSD */
/* Random cases: as many as CASES in the environment says, of the sequence that
 * SEED begins. A failure is seen again with the seed that its log shows. */
#ifndef CASES_H
#define CASES_H

#include <stdint.h>
#include <stdlib.h>
#include "tap.h"

static uint64_t seed = 88172645463325252u;

__attribute__((unused)) static uint64_t rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

/* A random number of a random width: small and large ones alike. */
__attribute__((unused)) static uint64_t any(unsigned bits)
{
	return rnd() >> (64 - 1 - rnd() % bits);
}

/* Begins: the number of cases, `few` if nobody asks for more. */
__attribute__((unused)) static long cases_begin(long few)
{
	const char *n = getenv("CASES"), *from = getenv("SEED");

	if (from != NULL && strtoull(from, NULL, 0) != 0)
		seed = strtoull(from, NULL, 0);
	diag("SEED=%llu", (unsigned long long)seed);
	return n != NULL ? strtol(n, NULL, 0) : few;
}

#endif
