/* SPDX-License-Identifier: 0BSD */
/* Does the count go on, and never back? */
#include <config.h>
#include "selftest.h"
#include "../common/stats.h"

#define BATCH 1000 /* calls between two looks at the clock */
#define STEPS 1000 /* changes of the count that are looked at */
#define SECOND 1000000000LL

enum outcome selftest_monotone(struct selftest *self)
{
	long long end = selftest_ns() + self->ms * 1000000LL;
	long long last = cpucycles(), now, calls = 0, back = 0, worst = 0;
	int i;

	do {
		for (i = 0; i < BATCH; i++) {
			now = cpucycles();
			if (now < last) {
				back++;
				worst = last - now > worst ? last - now : worst;
			}
			last = now;
		}
		calls += BATCH;
	} while (selftest_ns() < end);
	if (back > 0)
		return selftest_say(self, BAD,
				    "%lld of %lld counts were below the one "
				    "before, by up to %lld",
				    back, calls, worst);
	return selftest_say(self, GOOD,
			    "%lld counts, none below the one before", calls);
}

long long selftest_await(long long last)
{
	long long end = selftest_ns() + SECOND, now;
	int i;

	do
		for (i = 0; i < BATCH; i++)
			if ((now = cpucycles()) > last)
				return now;
	while (selftest_ns() < end);
	return now;
}

enum outcome selftest_advances(struct selftest *self)
{
	long long end = selftest_ns() + self->ms * 1000000LL;
	long long last = cpucycles(), now, step[STEPS];
	int n = 0;

	while (n < STEPS && (n < 3 || selftest_ns() < end)) {
		now = selftest_await(last);
		if (now <= last)
			return selftest_say(self, BAD,
					    "the count stood still at %lld for "
					    "a second",
					    last);
		step[n++] = now - last;
		last = now;
	}
	stats_sort(step, n);
	return selftest_say(self, GOOD,
			    "%d changes of the count, by %lld cycles mostly, "
			    "by %lld at least",
			    n, stats_quantile(step, n, 1, 2), step[0]);
}
