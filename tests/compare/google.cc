// SPDX-License-Identifier: 0BSD
// The scenarios in google-benchmark, which has times: google CYCLES [OPTION]...
#include <benchmark/benchmark.h>
#include <cstdlib>
#include "scenario.h"

static void run(benchmark::State &state, const scenario *s)
{
	for (auto _ : state)
		s->run();
}

int main(int argc, char **argv)
{
	scenario_length(argc > 1 ? atof(argv[1]) : 1e8);
	benchmark::Initialize(&argc, argv);
	for (const scenario *s = scenarios; s->name != nullptr; s++)
		benchmark::RegisterBenchmark(s->name, run, s);
	benchmark::RunSpecifiedBenchmarks();
}
