/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of google-benchmark: google-benchmark.cc. A variable
 * of this type before the loop reports, when its scope ends, the counter
 * cycles, of an iteration, and cycles/byte after a SetBytesProcessed(). The
 * cycles of a paused timer are in it. */
#ifndef CPUCYCLES_GOOGLE_BENCHMARK_H
#define CPUCYCLES_GOOGLE_BENCHMARK_H
#include <benchmark/benchmark.h>
#include <cpucycles.h>

struct Cycles {
	using Counter = benchmark::Counter;
	benchmark::State &state;
	const long long start;

	explicit Cycles(benchmark::State &s) : state(s), start(cpucycles())
	{
	}
	~Cycles()
	{
		double count = double(cpucycles() - start);
		double bytes = double(state.bytes_processed());

		state.counters["cycles"] = {count, Counter::kAvgIterations};
		if (bytes > 0)
			state.counters["cycles/byte"] = {count / bytes,
							 Counter::kAvgThreads};
	}
};
#endif
