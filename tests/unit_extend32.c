/* SPDX-License-Identifier: 0BSD */
/* 32-bit counts to 64 bits: calls nanoseconds, seconds and hours apart, and in
 * a signal handler at every place where one makes a difference. */
#include <config.h>
#include <inttypes.h>
#include "cases.h"
#include "pretended_clock.h"
#include "thread/guard.h"

#define G UINT64_C(1000000000)

static uint64_t pretended_ns = 4 * G;

/* Between any two of a count's accesses to the counter, the clock and the
 * anchor. */
static void place(void);

static uint64_t coarse_ns(void)
{
	uint64_t now;

	place();
	now = pretended_ns;
	place();
	return now;
}

#undef CPUC_FENCE
#define CPUC_FENCE() place()
#define cpuc_os_clock_coarse_ns coarse_ns
#include "../src/counters/extend32.h"
#define TICKS CPUC_EXTEND32_TICKS

static void check_odd(void)
{
	struct cpuc_anchor from = {2, 7 * G};

	ok(cpuc_extend32_at(from, TICKS(G), 0xfffffff0, 7 * G) == 0xfffffff0,
	   "no count is below 0");
	from = (struct cpuc_anchor){1, 0};
	ok(cpuc_extend32_at(from, CPUC_EXTEND32_UNKNOWN, 5, 2 * G) ==
		   (UINT64_C(1) << 32) + 5,
	   "without a rate a wrap is taken to last two seconds");
	from.full = 0;
	ok(cpuc_extend32_at(from, TICKS(G), 5, 20 * G) == 5,
	   "a thread's first count is the raw one");
}

/* The count that a clock predicts after ns, exactly. */
static uint64_t predicted(uint64_t rate, uint64_t ns)
{
	return ns / G * rate + ns % G * (rate / 1000) / 1000000 +
	       ns % G * (rate % 1000) / G;
}

/* Any count, rate and gap, and a prediction wrong by less than 2^31: however
 * far the true count is from it, as after a suspend that the clock has not
 * seen, its low half is that of one such count. */
static void check_random(long cases)
{
	static const uint64_t top[] = {UINT64_C(1) << 31, UINT64_C(1) << 32,
				       UINT64_C(1) << 48, UINT64_C(1) << 63};
	long i, bad = 0;

	for (i = 0; i < cases; i++) {
		uint64_t ns = any(47), rate = 1 + any(36);
		/* In a nanosecond a factor is off by up to 2^-24 ticks. */
		uint64_t most = (UINT64_C(1) << 31) - (ns >> 24) - 4;
		uint64_t error = any(31) % most, after, got;
		struct cpuc_anchor from = {1 + any(62), any(60)};

		/* Every other one is at a possible wrap. */
		if (i % 2)
			from.full = top[i / 2 % 4] + any(8) - any(8) -
				    predicted(rate, ns);
		after = from.full + predicted(rate, ns);
		after += i / 8 % 2 || after < error ? error : -error;
		got = cpuc_extend32_at(from, TICKS(rate), (uint32_t)after,
				       from.ns + ns);
		if (got != after && bad++ == 0)
			diag("%" PRIu64 " after %" PRIu64 " ns at %" PRIu64
			     " Hz gave %" PRIu64 ", not %" PRIu64,
			     from.full, ns, rate, got, after);
	}
	ok(bad == 0, "%ld random counts, rates and gaps give the count", cases);
}

static uint64_t read_ns; /* that a reading takes */

/* A counter of 4 GHz on the pretended clock. Its rate is stated far too high:
 * its counts are right while anchors are young. */
static uint64_t true_count(void)
{
	return 4 * pretended_ns;
}

static uint32_t it_raw(void)
{
	uint32_t now;

	place();
	pretended_ns += read_ns;
	now = (uint32_t)true_count();
	place();
	return now;
}

CPUC_EXTEND32(it, "it")

/* Counts are apart from the true ones by what the first one was. */
static uint64_t apart;

static void begin(void)
{
	it_ticks = TICKS(56 * G / 10);
	it_own = (struct cpuc_anchor){0, 0};
	apart = true_count() - (uint64_t)it_read();
}

static bool right(void)
{
	return (uint64_t)it_read() + apart == true_count();
}

static void check_pauses(void)
{
	unsigned i, bad = 0;

	begin();
	for (i = 1; i <= 80000; i++) {
		pretended_ns +=
			i % 1000 ? 1000000 : G / 10 * (5 + i / 1000 % 4);
		bad += !right();
	}
	ok(bad == 0, "pauses and wraps (%u wrong)", bad);
}

static unsigned places; /* until a handler comes; 0: none does */
static uint64_t passes; /* ns, and then the handler counts */
static bool counts;     /* or it was only a wait */
static int wrong;

static void place(void)
{
	if (places == 0 || --places > 0)
		return;
	pretended_ns += passes;
	wrong += counts && !right();
}

/* A count of a thread whose anchor is so old, with a handler at this place;
 * false: there is no such place. */
static bool at_place(uint64_t age, unsigned number)
{
	uint64_t before, got;
	bool acted;

	pretended_ns = 4 * G;
	begin();
	pretended_ns += age;
	before = true_count();
	places = number;
	got = (uint64_t)it_read() + apart;
	acted = places == 0;
	places = 0;
	wrong += (got != before && got != true_count()) || !right();
	return acted;
}

static void check_handlers(void)
{
	static const struct {
		uint64_t age, passes;
		bool counts;
	} rows[] = {
		{0, 0, true},           {0, 2 * CPUC_EXTEND32_NS, true},
		{0, G / 10 * 8, false}, {0, G / 10 * 8, true},
		{G, 0, true},           {G, 2 * CPUC_EXTEND32_NS, true},
	};
	unsigned i, number, all = 0;

	for (i = 0; i < COUNT(rows); i++) {
		passes = rows[i].passes;
		counts = rows[i].counts;
		for (number = 1; at_place(rows[i].age, number); number++)
			all++;
	}
	ok(wrong == 0 && all >= 8 * COUNT(rows),
	   "handlers that count, or waits, at %u places: %d wrong", all, wrong);
}

uint64_t cpuc_os_clock_ns(void)
{
	pretended_ns += read_ns;
	return pretended_ns;
}

/* Its rate is measured, so that it may be left alone for as long as may be. */
static void check_measured(void)
{
	struct cpuc_slot slot = {.counter = &cpuc_counter_it};
	uint64_t gap;
	int bad = 0;

	begin();
	read_ns = 40;
	slot.counter->open(&slot);
	for (gap = G; gap < 80 * G; gap += gap / 2) {
		pretended_ns += gap;
		bad += !right();
	}
	ok(bad == 0, "a rate that is measured: 1 to 80 s without a count");
	it_ticks = 77;
	slot.reader.entry = it_read;
	slot.counter->open(&slot);
	ok(it_ticks == 77, "once in a process");
	read_ns = 0;
}

int main(void)
{
	long cases = cases_begin(200000);

	check_odd();
	check_random(cases);
	check_measured();
	check_handlers();
	check_pauses();
	return done_testing();
}
