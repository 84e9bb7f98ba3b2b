/* SPDX-License-Identifier: 0BSD */
/* Does the count go on past 32 and 48 bits? */
#include <config.h>
#include <string.h>
#include <time.h>
#include "selftest.h"

#define BITS32 4294967296.0
#define BITS48 281474976710656.0
#define MARGIN 1.05
#define DEFAULT_S 6 /* how long a wait may be */
#define LONG_S 600
#define TIMES 3 /* past 2^32, if --long */
/* Without 2^32 less than a twentieth would be left of one time, and two thirds
 * of three. A core may change its rate by some of that meanwhile. */
#define WRONG 0.25

/* Nanoseconds in which the count should advance: of the thread alone if it
 * counts for that alone. */
static double counted_ns(const struct selftest *self)
{
	struct timespec t;

	if (self->threads && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
		return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
	return (double)selftest_ns();
}

/* Works for so long, and does not count meanwhile: what is extended from 32
 * bits must notice the wrap of its own. But a counter of the core, whose rate
 * changes, is promised not to lose 2^32 only when it is asked now and then. */
static void wait_ns(const struct selftest *self, double ns)
{
	double end = counted_ns(self) + ns;
	bool ask = self->follows && self->counter.bits == 32;
	int i;

	while (counted_ns(self) < end) {
		/* Little time for the clock, which may be a system call. */
		for (i = 0; i < 50; i++)
			selftest_work();
		if (ask)
			cpucycles();
	}
}

/* What to expect in a second of counted_ns(), by the rate in the main thread;
 * 0 if unknown. */
static double per_second(struct selftest *self)
{
	long long expected = selftest_base(self) ? selftest_expected(self) : 0;

	return (double)expected * (double)self->base_ppm / 1e6;
}

enum outcome selftest_wrap32(struct selftest *self)
{
	double hz = per_second(self), cycles = BITS32 * MARGIN, ns, ratio;
	double seconds, most = self->effort == LONG ? LONG_S : DEFAULT_S;
	long long count;

	if (hz <= 0)
		return selftest_say(self, SKIPPED,
				    "the rate of the count is not known");
	/* The hardware's 2^32. */
	if (self->counter.bits == 32 && self->counter.scaling > 1)
		cycles *= self->counter.scaling;
	if (self->effort == LONG)
		cycles *= TIMES;
	seconds = cycles / hz;
	if (self->effort == QUICK || seconds > most)
		return selftest_say(self, SKIPPED, "it takes %.1f s%s", seconds,
				    self->effort == QUICK  ? ": not if --quick"
				    : self->effort == LONG ? ""
							   : ": needs --long");
	ns = counted_ns(self);
	count = cpucycles();
	wait_ns(self, seconds * 1e9);
	count = cpucycles() - count;
	ns = counted_ns(self) - ns;
	hz = (hz + per_second(self)) / 2;
	ratio = (double)count / (ns * hz / 1e9);
	return selftest_say(self,
			    ratio > 1 - WRONG && ratio < 1 + WRONG ? GOOD : BAD,
			    "%lld counted in %.1f s without a call, %.2f%% of "
			    "what that should be",
			    count, ns / 1e9, ratio * 100);
}

enum outcome selftest_wrap48(struct selftest *self)
{
	long long count = cpucycles();
	double hz = per_second(self);

	if ((double)count >= BITS48)
		return selftest_say(self, GOOD, "the count is past it: %lld",
				    count);
	if (hz <= 0)
		return selftest_say(self, SKIPPED,
				    "the rate of the count is not known");
	return selftest_say(self, SKIPPED,
			    "it takes %.0f hours from 0: the tests of the "
			    "library's source simulate it",
			    BITS48 / hz / 3600);
}
