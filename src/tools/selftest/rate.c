/* SPDX-License-Identifier: 0BSD */
/* Does the count agree with CLOCK_MONOTONIC?
 *
 * A count that follows the core is held against the core's rate as it was
 * observed just before and just after each window, because that rate changes
 * from one to the next. Medians leave out what an interrupt hit. */
#include <config.h>
#include <time.h>
#include "selftest.h"
#include "../common/stats.h"

#define WINDOW_NS 300000    /* shorter than schedulers' time slices */
#define WINDOW_MAX 50000000 /* for a clock that steps in milliseconds */
#define STEPS 200           /* of the count in a window: 0.5% */
#define WINDOWS_MAX 499
#define WINDOWS_MIN 9
#define TURNS 10000 /* of a loop: microseconds */

/* Clocks of a known rate are taken as they are within 1%. */
#define OFF_CLOCK 20000 /* millionths */
/* The core's rate may dither by 1%, and chains of one cycle take 4% longer
 * while another thread uses the core. */
#define OFF_CORE 60000
/* Two threads that are both right. */
#define OFF_SAME 150000

long long selftest_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Not the clock in a loop: where that is a system call, the thread would
 * spend its time in the kernel, which some counts leave out. */
void selftest_work(void)
{
	int i;

	for (i = 0; i < TURNS; i++)
		__asm__ __volatile__("");
}

long long selftest_expected(const struct selftest *self)
{
	return self->follows ? cpucycles_observepersecond()
			     : cpucycles_persecond();
}

static long long window_length(const struct selftest *self)
{
	double ns = (double)self->counter.precision * STEPS * 1e9 /
		    (double)cpucycles_persecond();

	if (ns < WINDOW_NS)
		return WINDOW_NS;
	return ns < WINDOW_MAX ? (long long)ns : WINDOW_MAX;
}

/* Counts per second in one window. */
static long long one_window(long long length)
{
	long long begin = selftest_ns(), count = cpucycles(), ns;

	do
		selftest_work();
	while (selftest_ns() - begin < length);
	count = cpucycles() - count;
	ns = selftest_ns() - begin;
	return (long long)((double)count * 1e9 / (double)ns);
}

bool selftest_rate(const struct selftest *self, int ms,
		   struct selftest_rate *rate)
{
	long long end = selftest_ns() + ms * 1000000LL, before, after, hz;
	long long ppm[WINDOWS_MAX], counted[WINDOWS_MAX];
	long long length = window_length(self);
	int n = 0, tries = 0;

	while (n < WINDOWS_MAX && tries++ < 5 * WINDOWS_MAX &&
	       (n < WINDOWS_MIN || selftest_ns() < end)) {
		before = selftest_expected(self);
		hz = one_window(length);
		after = selftest_expected(self);
		/* A core counter that stands still cannot be observed. */
		if (hz == 0)
			before = after = 1;
		if (before == 0 || after == 0)
			continue;
		counted[n] = hz;
		ppm[n++] = (long long)((double)hz * 2e6 /
				       ((double)before + (double)after));
	}
	if (n < WINDOWS_MIN)
		return false;
	stats_sort(ppm, n);
	stats_sort(counted, n);
	rate->ppm = stats_quantile(ppm, n, 1, 2);
	rate->hz = stats_quantile(counted, n, 1, 2);
	rate->windows = n;
	return true;
}

bool selftest_base(struct selftest *self)
{
	struct selftest_rate rate;

	if (self->base_ppm == 0) {
		if (!selftest_rate(self, self->ms / 10, &rate))
			return false;
		self->base_ppm = rate.ppm;
	}
	return true;
}

bool selftest_same(struct selftest *self, const struct selftest_rate *rate)
{
	double ratio = (double)rate->ppm / (double)self->base_ppm;

	return ratio > 1 - OFF_SAME / 1e6 && ratio < 1 + OFF_SAME / 1e6;
}

enum outcome selftest_clock(struct selftest *self)
{
	long long off = self->follows ? OFF_CORE : OFF_CLOCK;
	struct selftest_rate r;
	bool good;

	if (!selftest_rate(self, self->ms, &r))
		return selftest_say(self, SKIPPED,
				    "the core's rate cannot be measured here: "
				    "cpucycles_observepersecond() is 0");
	good = r.ppm >= 1000000 - off && r.ppm <= 1000000 + off;
	return selftest_say(self, good ? GOOD : OFF,
			    "counts %lld a second, %.2f%% of %s "
			    "(median of %d windows, tolerance %lld%%)",
			    r.hz, (double)r.ppm / 1e4,
			    self->follows ? "cpucycles_observepersecond()"
					  : "cpucycles_persecond()",
			    r.windows, off / 10000);
}
