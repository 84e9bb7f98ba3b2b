/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of Catch2, whose benchmarks can use any clock. That
 * of the second one counts cycles. Catch2 knows no unit but seconds, so its
 * table has one microsecond for 1000 cycles; a line on stderr has the cycles.
 * For version 2, which is one header:
 * g++ -O2 catch2.cc -lcpucycles
 *
 * A byte takes 4 cycles on most CPUs, whatever their clock does: 1 to combine
 * it, 3 to multiply, and each waits for the one before. */
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp> /* version 3; add -lCatch2Main -lCatch2 */
using Listener = Catch::EventListenerBase;
#else
#define CATCH_CONFIG_MAIN
#define CATCH_CONFIG_ENABLE_BENCHMARKING
#include <catch2/catch.hpp>
using Listener = Catch::TestEventListenerBase;
#endif
#include <chrono>
#include <cstdint>
#include <iostream>
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

struct CyclesListener : Listener {
	using Listener::Listener;

	void benchmarkEnded(Catch::BenchmarkStats<> const &stats) override
	{
		if (stats.info.name.find("cycles") == 0)
			std::cerr << "\n"
				  << (long long)stats.mean.point.count()
				  << " cycles, " << cpucycles_kind() << "\n";
	}
};
CATCH_REGISTER_LISTENER(CyclesListener)

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
	Catch::Benchmark::Benchmark("cycles, 1000 in a us", fnv)
		.run<CyclesClock>();
}
