/* SPDX-License-Identifier: 0BSD */
/* The counters that are clocks of the system, while the time is set, at the
 * places where a number of seconds needs another bit, and through a suspend.
 */
#include <config.h>
#include <string.h>
#include "select.h"
#include "system/probe.h"
#include "pretended_clock.h"
#include "pretended_rate.h"
#include "tap.h"

#if !HAVE_COUNTER_DEFAULT_GETTIMEOFDAY || !HAVE_COUNTER_DEFAULT_MONOTONIC
int main(void)
{
	skip_all("not here");
}
#else

#define DAY UINT64_C(86400000000) /* microseconds */
#define HZ UINT64_C(2400000000)

extern const struct cpuc_counter cpuc_counter_default_gettimeofday,
	cpuc_counter_default_monotonic;

static uint64_t ns = 5000000000; /* since the system began */
static uint64_t began_us = UINT64_C(1790000000000000);
static uint64_t set_by;   /* microseconds that the time of day was set by */
static int reads, set_at; /* at this read, 0 never */

uint64_t cpuc_os_clock_ns(void)
{
	return ns += 100;
}

uint64_t cpuc_os_clock_us(void)
{
	if (++reads == set_at)
		set_by -= DAY;
	return began_us + cpuc_os_clock_ns() / 1000 + set_by;
}

static struct cpuc_slot slots[2] = {
	{.counter = &cpuc_counter_default_monotonic},
	{.counter = &cpuc_counter_default_gettimeofday},
};

static const struct cpuc_slot *choose(const char *name)
{
	const struct cpuc_slot *s;

	cpuc_probe_begin();
	s = cpuc_select(slots, 2, name);
	cpuc_probe_end();
	return s;
}

static uint64_t count(const struct cpuc_slot *s)
{
	return (uint64_t)cpuc_slot_read(s);
}

/* To the cycles of a microsecond or two. */
static int is(uint64_t difference, uint64_t microseconds)
{
	return difference - microseconds * (HZ / 1000000) + 4 * HZ / 1000000 <
	       8 * HZ / 1000000;
}

static void check_set(void)
{
	const struct cpuc_slot *s = choose("default-gettimeofday");
	uint64_t a, jump;
	int i, bad = 0;

	ok(!strcmp(s->counter->name, "default-gettimeofday"), "selected");
	for (i = 0; i < 1000; i++) {
		jump = (i % 2 ? UINT64_C(11) : -UINT64_C(10)) * DAY;
		a = count(s);
		set_by += jump;
		bad += !is(count(s) - a, jump);
		a = count(s);
		ns += 3000000;
		bad += !is(count(s) - a, 3000);
	}
	ok(bad == 0, "it jumps when the time is set, and counts in between");
}

/* One reading that is a day behind the one before does not make a clock one
 * that goes backwards. */
static void check_set_in_selection(void)
{
	const struct cpuc_slot *s;
	int bad = 0;

	for (set_at = 1; set_at < 3000; set_at += 7) {
		reads = 0;
		s = choose("default-gettimeofday");
		bad += strcmp(s->counter->name, "default-gettimeofday") != 0 ||
		       cpuc_precision(s) > 200 + (long long)(HZ / 1000000);
	}
	set_at = 0;
	ok(bad == 0, "set in the midst of its selection, it is selected");
}

/* 2038, 2106, and microseconds that a double cannot hold. */
static void check_epochs(void)
{
	static const uint64_t us[] = {
		(UINT64_C(1) << 31) * 1000000, (UINT64_C(1) << 32) * 1000000,
		UINT64_C(1) << 48, UINT64_C(1) << 51, UINT64_C(1) << 53};
	const struct cpuc_slot *s = choose("default-gettimeofday");
	uint64_t a;
	size_t i;

	for (i = 0; i < sizeof us / sizeof *us; i++) {
		began_us = us[i] - ns / 1000 - set_by - 500;
		a = count(s);
		ns += 1000000;
		ok(is(count(s) - a, 1000), "across %llu s of the time of day",
		   (unsigned long long)(us[i] / 1000000));
	}
	s = choose("default-monotonic");
	for (i = 31; i < 63; i++) {
		ns = (UINT64_C(1) << i) - 500000;
		a = count(s);
		ns += 1000000;
		if (!is(count(s) - a, 1000))
			break;
	}
	ok(i == 63, "CLOCK_MONOTONIC, across 2^31 ... 2^62 ns");
}

int main(void)
{
	nominal_rate = HZ;
	check_set();
	check_set_in_selection();
	check_epochs();
	return done_testing();
}

#endif
