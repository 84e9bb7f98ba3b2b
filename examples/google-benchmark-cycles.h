/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of google-benchmark: see google-benchmark.cc. Define
 * a variable of this type before the loop. When its scope ends, it reports the
 * cycles of an iteration, and cycles/byte if SetBytesProcessed() was called.
 * Cycles while the timer is paused are included. */
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
