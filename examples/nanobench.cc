/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of nanobench. It needs nanobench.h, version 4, which
 * is one file, nanobench-cycles.h, both here or found by -I, and C++11:
 * g++ -O2 nanobench.cc -lcpucycles
 *
 * A byte takes 4 cycles on most CPUs, whatever their clock does: 1 to combine
 * it, 3 to multiply, and each waits for the one before. */
#define ANKERL_NANOBENCH_IMPLEMENT
#include "nanobench-cycles.h"

unsigned char message[1000];
uint64_t hash = UINT64_C(0xcbf29ce484222325);

static void fnv()
{
	uint64_t h = hash;

	for (unsigned char byte : message)
		h = (h ^ byte) * UINT64_C(0x100000001b3);
	hash = h;
	ankerl::nanobench::doNotOptimizeAway(hash);
}

int main()
{
	ankerl::nanobench::Bench bench;

	bench.batch(sizeof message).unit("byte");
	run_cycles(bench, "fnv", fnv);
}
