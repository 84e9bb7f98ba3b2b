/* SPDX-License-Identifier: 0BSD */
/* Stands in for the original library: its symbols, types and soname. Its cycles
 * are the calls. */
#include <stdio.h>
#include <cpucycles.h>

static long long calls;

static long long next(void)
{
	return ++calls;
}

static long long first(void)
{
	cpucycles = next;
	return cpucycles();
}

long long (*cpucycles)(void) = first;

const char *cpucycles_implementation(void)
{
	return "calls";
}

const char *cpucycles_version(void)
{
	return "standin";
}

long long cpucycles_persecond(void)
{
	return 1000000;
}

void cpucycles_tracesetup(void)
{
	puts("cpucycles tracesetup 0 calls precision 1 scaling 1.0 only32 0");
}
