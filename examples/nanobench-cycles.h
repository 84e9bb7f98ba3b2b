/* SPDX-License-Identifier: 0BSD */
/* Cycles beside the times of nanobench: see nanobench.cc. nanobench's own
 * column cyc/op needs a PMU, and counts reference cycles. run_cycles() runs a
 * benchmark, then each of its epochs once more between two counts, prints a
 * line below nanobench's and returns the median. */
#ifndef CPUCYCLES_NANOBENCH_H
#define CPUCYCLES_NANOBENCH_H
#include <algorithm>
#include <cstdio>
#include <vector>
#include <cpucycles.h>
#include <nanobench.h>

template <typename Op>
double run_cycles(ankerl::nanobench::Bench &bench, const char *name, Op &&op)
{
	using ankerl::nanobench::Result;
	std::vector<double> epochs;

	bench.run(name, op);
	const Result &timed = bench.results().back();
	for (size_t epoch = 0; epoch < timed.size(); epoch++) {
		double calls = timed.get(epoch, Result::Measure::iterations);
		long long start = cpucycles();
		for (auto i = uint64_t(calls); i > 0; i--)
			op();
		epochs.push_back(double(cpucycles() - start) /
				 (calls * bench.batch()));
	}
	std::sort(epochs.begin(), epochs.end());
	double median = epochs[epochs.size() / 2];
	char text[64];
	std::snprintf(text, sizeof text, "| %19.2f | cycles/", median);
	if (bench.output() != nullptr)
		*bench.output() << text << bench.unit() << ", "
				<< cpucycles_kind() << ": `" << name << "`\n";
	return median;
}
#endif
