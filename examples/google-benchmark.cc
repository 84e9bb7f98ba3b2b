/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of google-benchmark, also of several threads:
 * g++ -O2 google-benchmark.cc -lbenchmark -lcpucycles -pthread
 *
 * A byte takes 4 cycles on most CPUs, whatever their clock does: 1 to combine
 * it, 3 to multiply, and each waits for the one before. */
#include <cstdint>
#include "google-benchmark-cycles.h"

unsigned char message[1000];

static void fnv(benchmark::State &state)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	Cycles cycles(state);

	for (auto _ : state) {
		for (unsigned char byte : message)
			hash = (hash ^ byte) * UINT64_C(0x100000001b3);
		benchmark::DoNotOptimize(hash);
	}
	state.SetBytesProcessed(int64_t(state.iterations() * sizeof message));
}

BENCHMARK(fnv)->ThreadRange(1, 2);
BENCHMARK_MAIN();
