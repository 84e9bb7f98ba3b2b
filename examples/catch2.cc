/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of Catch2, whose benchmarks can use any clock. That
 * of the second one counts cycles: each nanosecond in its table is a cycle. For
 * version 2, which is one header:
 * g++ -O2 catch2.cc -lcpucycles
 *
 * A byte takes 4 cycles on most CPUs, whatever their clock does: 1 to combine
 * it, 3 to multiply, and each waits for the one before. */
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp> /* version 3; add -lCatch2Main -lCatch2 */
#else
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
#endif
#include <chrono>
#include <cstdint>
#include <cpucycles.h>

struct CyclesClock {
	using duration = std::chrono::nanoseconds;
	using rep = duration::rep;
	using period = duration::period;
	using time_point = std::chrono::time_point<CyclesClock>;
	static const bool is_steady = true;

	static time_point now()
	{
		return time_point(duration(cpucycles()));
	}
};

unsigned char message[1000];
uint64_t hash = UINT64_C(0xcbf29ce484222325);

static uint64_t fnv()
{
	uint64_t h = hash;

	for (unsigned char byte : message)
		h = (h ^ byte) * UINT64_C(0x100000001b3);
	return hash = h;
}

TEST_CASE("fnv")
{
	BENCHMARK("nanoseconds")
	{
		return fnv();
	};
	Catch::Benchmark::Benchmark("cycles", fnv).run<CyclesClock>();
}
