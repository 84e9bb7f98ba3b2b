/* SPDX-License-Identifier: 0BSD */
/* What an interval counts, by what was seen of it. */
#include <config.h>
#include "arithmetic.h"
#include "calibrated/calibration.h"
#include "calibrated/constants.h"
#include "calibrated/interval.h"
#include "calibrated/ratio.h"
#include "cases.h"

#define ONE (UINT64_C(1) << CPUC_RATIO_BITS)

static struct cpuc_bounds bounds;

/* One interval each: what is lost is learned from readings without a switch,
 * and forgotten; the clock of another core is behind; waits. */
static void singly(void)
{
	const uint64_t gap = COUNT_GAP, clock = COUNT_CLOCK_EVERY,
		       lack = 62500, /* 25 us, as cpucycles(7) says */
		brief = COUNT_CLOCK_LEAST / 8;
	const struct {
		const char *what;
		struct cpuc_interval i;
		struct cpuc_closed closed;
	} rows[] = {
		{"what is missing without a switch counts, and is lost",
		 {.ticks = 1000000, .counted = 400000, .ran = 900000},
		 {.ticks = 1000000,
		  .lack = {.lost = 100000, .slow = 65536 / 9 / SLOW_MORE}}},
		{"is forgotten",
		 {.ticks = 1000000, .ran = 1000000, .lack.lost = 1 << 17},
		 {.ticks = 1000000,
		  .lack.lost = (1 << 17) - (1 << 17) / LOST_FADES}},
		{"but slowly, once it is as little as a switch may hide",
		 {.ticks = 1000000, .ran = 1000000, .lack.lost = lack},
		 {.ticks = 1000000,
		  .lack.lost = (lack - lack / LOST_STAYS) & LOST_MOST}},
		{"and so it is beside a switch",
		 {.ticks = 1000000,
		  .ran = 1000000,
		  .lack.lost = 1 << 17,
		  .switches.involuntary = 1,
		  .interrupted = true},
		 {.ticks = 1000000,
		  .lack.lost = (1 << 17) - (1 << 17) / LOST_FADES}},
		{"a long pause of the host's shows no slow clock",
		 {.ticks = 3 * clock, .ran = clock},
		 {.ticks = 3 * clock, .lack.lost = 2 * clock & LOST_MOST}},
		{"a clock that lacks one part of sixteen is slow by it",
		 {.ticks = clock + clock / 16, .ran = clock},
		 {.ticks = clock + clock / 16,
		  .lack = {.lost = clock / 16 & LOST_MOST,
			   .slow = UINT16_MAX / 16 / SLOW_MORE}}},
		{"and one that lacks three of ten, by these",
		 {.ticks = clock + clock / 10 * 3, .ran = clock},
		 {.ticks = clock + clock / 10 * 3,
		  .lack = {.lost = clock / 10 * 3 & LOST_MOST,
			   .slow = (uint16_t)(65536 * (clock / 10 * 3) /
					      (clock + 1) / SLOW_MORE)}}},
		{"which goes away",
		 {.ticks = clock, .ran = clock, .lack.slow = 64},
		 {.ticks = clock, .lack.slow = 64 - 64 / SLOW_LESS}},
		{"and fades after a switch",
		 {.ticks = clock,
		  .ran = clock,
		  .lack.slow = 64,
		  .switches.voluntary = 1},
		 {.ticks = clock, .lack.slow = 64 - 64 / SLOW_SWITCHED}},
		{"as much more may be missing, and a part of that",
		 {.ticks = 3 * clock,
		  .ran = clock,
		  .lack.slow = 1 << 12,
		  .switches.voluntary = 1,
		  .interrupted = true},
		 {.ticks = clock + clock / 256 * 16 +
			   cpuc_min(clock / 256 * 16 / SLOW_DOUBT,
				    clock / SLOW_DOUBT_MOST),
		  .lack.slow = (1 << 12) - (1 << 12) / SLOW_SWITCHED}},
		{"a short time does not show that the thread's clock is slow",
		 {.ticks = COUNT_CLOCK_LEAST, .ran = COUNT_CLOCK_LEAST - brief},
		 {.ticks = COUNT_CLOCK_LEAST, .lack.lost = brief & LOST_MOST}},
		{"the host may have had more than can be kept",
		 {.ticks = clock + 3 * (uint64_t)LOST_MOST, .ran = clock},
		 {.ticks = clock + 3 * (uint64_t)LOST_MOST,
		  .lack.lost = LOST_MOST}},
		{"a clock that is behind: the thread's own counts",
		 {.ticks = 399000, .counted = 400000, .ran = 405000},
		 {.ticks = 405000}},
		{"of what it ran since its clock was read",
		 {.ticks = 399000,
		  .counted = 400000,
		  .ran = 405000,
		  .unread = 3000},
		 {.ticks = 402000}},
		{"but no less than calls have returned",
		 {.ticks = 399000, .counted = 400000, .ran = 395000},
		 {.ticks = 400000}},
		{"if no time has passed, that does not: it was read later",
		 {.ticks = 400000, .counted = 400000, .ran = 405000},
		 {.ticks = 400000}},
		{"a wait that did not interrupt",
		 {.ticks = 3 * gap, .switches.voluntary = 1},
		 {.wait_missed = true}},
		{"and one that did",
		 {.ticks = 3 * gap,
		  .switches.voluntary = 1,
		  .interrupted = true},
		 {.wait_missed = false}},
		{"a preemption is no wait",
		 {.ticks = 3 * gap, .switches.involuntary = 1},
		 {.ticks = lack}},
		{"nor is what is missing so briefly",
		 {.ticks = gap,
		  .counted = gap / 4,
		  .ran = gap / 2,
		  .switches.voluntary = 1},
		 {.ticks = gap / 2 + gap / 4 / LOST_UNSEEN}},
		{"a wait that was not told may be before the latest count",
		 {.ticks = 3 * gap,
		  .counted = 2 * gap,
		  .ran = gap,
		  .switches.voluntary = 1},
		 {.ticks = 3 * gap, .wait_missed = true}},
		{"one that was told is after it, and what is longer was hidden",
		 {.ticks = 3 * gap,
		  .counted = 2 * gap,
		  .ran = gap,
		  .switches.voluntary = 1,
		  .interrupted = true},
		 {.ticks = 2 * gap + lack}},
	};
	struct cpuc_interval i;
	struct cpuc_closed closed;
	size_t k;

	for (k = 0; k < COUNT(rows); k++) {
		i = rows[k].i;
		i.ratio_before = i.ratio_after = ONE;
		i.clock_known = i.waits_clear = true;
		i.gap = COUNT_GAP_CLEARS;
		closed = cpuc_interval_close(&i, &bounds);
		ok(closed.ticks == rows[k].closed.ticks &&
			   closed.lack.lost == rows[k].closed.lack.lost &&
			   closed.lack.slow == rows[k].closed.lack.slow &&
			   closed.wait_missed == rows[k].closed.wait_missed,
		   "%s: %.0f ticks, %u lost, %u slow", rows[k].what,
		   (double)closed.ticks, (unsigned)closed.lack.lost,
		   closed.lack.slow);
	}
	i = (struct cpuc_interval){
		.ratio_before = ONE, .ratio_after = ONE, .counted = 1000};
	ok(cpuc_interval_close(&i, &bounds).ticks == 1000,
	   "if the clock is behind and no other is known, nothing counts");
}

/* An interval whose clock was read at its beginning, that a word tells of. */
static struct cpuc_interval usual(struct cpuc_lack lack)
{
	return (struct cpuc_interval){
		.ratio_before = ONE,
		.ratio_after = ONE,
		.clock_known = true,
		.waits_clear = true,
		.interrupted = true,
		.gap = COUNT_GAP_CLEARS,
		.lack = lack,
	};
}

/* In one of these nothing was counted, but the thread ran for so long by its
 * clock, and was away in so many waits, or one preemption. */
static struct cpuc_closed switched(struct cpuc_lack *lack, uint64_t ran,
				   uint64_t away, uint16_t waits)
{
	struct cpuc_interval i = usual(*lack);
	struct cpuc_closed closed;

	i.ticks = ran + away;
	i.ran = ran;
	i.switches = (struct cpuc_switches){waits, waits == 0};
	closed = cpuc_interval_close(&i, &bounds);
	*lack = closed.lack;
	return closed;
}

/* Of a preemption what it may hide counts, for 512 in a row, and a quarter
 * of what the thread ran pays that back: as cpucycles(7) says. */
static void granted(void)
{
	const uint64_t hides = cpuc_calibration.switch_hides, away = 10 * hides;
	struct cpuc_lack lack = {.lost = 0};
	uint64_t sum = 0, least, most;
	int i;

	for (i = 0; i < 500; i++)
		sum += switched(&lack, 0, away, 0).ticks == hides;
	ok(sum == 500, "%.0f of %d preemptions hide something", (double)sum, i);
	for (sum = 0, i = 0; i < 1000; i++)
		sum += switched(&lack, 0, away, 0).ticks;
	/* What is rounded is forgotten, at each of the 1500. */
	least = 12 * hides;
	most = least + 1500 * (512 * hides / (1 << 15) + 1);
	ok(sum >= least && sum <= most,
	   "but no more than 512 in all: then %.0f ticks, of %.0f to %.0f",
	   (double)sum, (double)least, (double)most);
	ok(switched(&lack, 5 * hides, away, 0).ticks == 6 * hides,
	   "what the thread ran pays for that at once");
	switched(&lack, 5 * hides, 0, 1);
	ok(switched(&lack, 0, away, 0).ticks == hides, "and later");
	switched(&lack, 0, away, 0);
	/* What is rounded is less than a tenth. */
	switched(&lack, 2 * hides, 0, 1);
	sum = switched(&lack, 0, away, 0).ticks;
	ok(sum >= hides / 2 && sum < hides * 6 / 10,
	   "a quarter of it: of twice what is hidden %.0f of %.0f ticks",
	   (double)sum, (double)hides);
	ok(switched(&lack, 0, away, 1).ticks == 0,
	   "a wait hides nothing by itself");
}

/* How many waits hide something, of ten in each interval. */
static uint64_t hiding_waits(struct cpuc_lack lack)
{
	const uint64_t hides = cpuc_calibration.switch_hides, ran = 50 * hides;
	uint64_t n = 0, now;

	do {
		now = (switched(&lack, ran, ran, 10).ticks - ran) / hides;
		n += now;
	} while (now > 0 && n < 1000);
	return n;
}

/* So much of a preemption counts after this interval, with this lack before. */
static uint64_t granted_after(struct cpuc_interval i, struct cpuc_lack lack)
{
	i.lack = lack;
	lack = cpuc_interval_close(&i, &bounds).lack;
	return switched(&lack, 0, 10 * cpuc_calibration.switch_hides, 0).ticks;
}

/* More is missing than has passed since the latest count. */
static void proven(void)
{
	const uint64_t hides = cpuc_calibration.switch_hides, away = 10 * hides;
	struct cpuc_lack lack = {.granted = 1 << 15}, lost;
	struct cpuc_interval i = usual(lack), other;

	i.counted = 2 * hides;
	i.ticks = 3 * hides;
	i.ran = hides;
	i.switches.involuntary = 1;
	ok(switched(&lack, 0, away, 0).ticks < hides / 4,
	   "nothing is granted any more");
	lost = lack;
	lost.lost = 2 * hides & LOST_MOST;
	ok(granted_after(i, lost) < hides / 4,
	   "nor if the host may have had that");
	other = i;
	other.interrupted = false;
	ok(granted_after(other, lack) < hides / 4,
	   "nor if nothing tells that it was after the latest count");
	other = i;
	other.migrated = true;
	ok(granted_after(other, lack) < hides / 4,
	   "nor on another CPU, whose clock may differ");
	other = i;
	other.ran = 2 * hides - hides / 16;
	ok(granted_after(other, lack) < hides / 4,
	   "nor if no more is missing than two readings may differ by");
	i.lack = lack;
	lack = cpuc_interval_close(&i, &bounds).lack;
	ok(switched(&lack, 0, away, 0).ticks == hides,
	   "but where a switch has hidden something it is");
	ok(hiding_waits(lack) == 32, "and the next 32 waits do it, too");
	i.switches = (struct cpuc_switches){1, 0};
	lack = cpuc_interval_close(&i, &bounds).lack;
	ok(hiding_waits(lack) == 31, "it may have been a wait: then 31 more");
}

/* A word that stood at the interval's end, and was cleared when the kernel was
 * asked: the switch came in between, and what is missing was hidden. */
static void stood(void)
{
	const uint64_t hides = cpuc_calibration.switch_hides;
	const struct cpuc_lack lack = {.granted = 1 << 15};
	struct cpuc_interval i = usual(lack), unknown;
	struct cpuc_closed closed;

	i.ticks = 10 * hides;
	i.ran = 5 * hides;
	i.switches.involuntary = 1;
	i.stood = true;
	closed = cpuc_interval_close(&i, &bounds);
	ok(closed.ticks == 10 * hides && closed.lack.granted == 0,
	   "a switch after the interval leaves nothing out, and proves that "
	   "something was hidden");
	i.ran = 10 * hides - hides / 16;
	ok(cpuc_interval_close(&i, &bounds).lack.granted > 0,
	   "but not if no more is missing than two readings may differ by");
	unknown = i;
	unknown.ran = 5 * hides;
	unknown.waits_clear = false;
	ok(cpuc_interval_close(&unknown, &bounds).ticks < 10 * hides,
	   "a word that waits do not clear tells nothing");
	unknown.waits_clear = true;
	unknown.interrupted = false;
	unknown.switches.voluntary = 1;
	ok(cpuc_interval_close(&unknown, &bounds).ticks < 10 * hides,
	   "nor one that was not cleared at all");
}

/* The interval's ticks where the thread's clock lacks so many, of `since`
 * before the latest count and as many after it. */
static uint64_t lost_before(struct cpuc_interval i, uint64_t since,
			    uint64_t missing)
{
	i.unread = i.counted = since / 2;
	i.ticks = since / 2 + since;
	i.ran = 2 * since - missing;
	i.gap = COUNT_GAP;
	return cpuc_interval_close(&i, &bounds).ticks;
}

/* What interrupts and the host have taken before the latest count is in no
 * pause: what they always may have, and more if switches do not explain it.
 * Then a switch may have hidden something, too. */
static void lost(void)
{
	const uint64_t since = UINT64_C(1) << 20, all = since / 2 + since;
	const uint64_t most = since / 256, gap = COUNT_GAP;
	const uint64_t much = since / 2 + since / 8;
	const uint32_t hides = bounds.hides, fades = hides / LOST_STAYS;
	struct cpuc_interval i = usual((struct cpuc_lack){.lost = 0}), before;

	i.switches.voluntary = 1;
	ok(lost_before(i, since, most) == all &&
		   lost_before(i, since, most + 1) == all - 1,
	   "one part of 256 of the time may always be lost");
	before = i;
	before.lack.lost = hides & LOST_MOST;
	ok(lost_before(before, since, most + hides - fades) == all &&
		   lost_before(before, since, since + most + hides - fades) ==
			   since / 2 + hides,
	   "in addition to what was lost before");
	ok(lost_before(i, since, since + most) == since / 2 + hides &&
		   lost_before(i, since, since + most + 1) ==
			   much - most - 1 + hides,
	   "an eighth of it, if more is missing than a pause can be");
	i.waits_clear = false;
	ok(lost_before(i, since, since + most + gap) == since / 2 + most &&
		   lost_before(i, since, since + most + gap + 1) ==
			   much - gap - 1,
	   "where no word tells, a gap's time may have been a pause, too");
	i.waits_clear = true;
	i.switches = (struct cpuc_switches){0, 1};
	ok(lost_before(i, since, since + most + hides) == since / 2 + hides &&
		   lost_before(i, since, since + most + hides + 1) ==
			   much - most - 1,
	   "and what a preemption hides");
}

/* What the thread's clock lacks since its latest reading, before the interval,
 * too. */
static void doubted(void)
{
	const uint32_t hides = (uint32_t)cpuc_calibration.switch_hides;
	struct cpuc_interval i = usual((struct cpuc_lack){.lost = 0});

	i.unread = 10 * hides;
	i.ticks = hides;
	i.ran = 10 * hides - 1;
	ok(cpuc_interval_doubted(&i, hides) &&
		   !cpuc_interval_doubted(&i, hides + 1),
	   "what is missing beyond what a switch hides is doubted");
	i.clock_known = false;
	ok(!cpuc_interval_doubted(&i, 0), "but not if no clock is known");
}

/* After a switch the clock is not compared, though it lacks little, unless a
 * switch is only what nobody can rule out. */
static void compared(void)
{
	struct cpuc_interval i = usual((struct cpuc_lack){.lost = 0});
	bool is[4];

	i.ticks = i.ran = COUNT_CLOCK_LEAST;
	is[0] = cpuc_interval_close(&i, &bounds).compared;
	i.switches.voluntary = 2;
	is[1] = cpuc_interval_close(&i, &bounds).compared;
	i.switches_unknown = true;
	is[2] = cpuc_interval_close(&i, &bounds).compared;
	i.ticks += 2 * bounds.hides;
	is[3] = cpuc_interval_close(&i, &bounds).compared;
	ok(is[0] && !is[1] && is[2] && !is[3],
	   "compared: without a switch, or where none is known and none seen");
}

/* A thread's history: interrupts take `taken` permille of what it runs, and the
 * host now and then so many ticks, which its clock lacks. `known` is what a
 * reading without a switch lacked, less a sixteenth for each since: what is
 * more than that and one part of 256 of the time, and what a switch hides
 * beyond what is granted, may be missing from an interval with a switch, and
 * nothing else. */
struct history {
	struct cpuc_lack lack;
	uint64_t taken, pause, known, reading;
};

/* What the clock lacks of so many ticks. */
static uint64_t history_lack(const struct history *h, uint64_t ticks, bool host)
{
	return ticks * h->taken / 1000 + (host ? h->pause : 0);
}

static void history_compare(struct history *h, bool host)
{
	struct cpuc_interval i = usual(h->lack);
	const uint64_t lack = history_lack(h, h->reading, host);

	i.ticks = h->reading + (host ? h->pause : 0);
	i.ran = i.ticks - lack;
	i.interrupted = false;
	h->known -= h->known / LOST_FADES;
	h->known = lack > h->known ? lack : h->known;
	h->lack = cpuc_interval_close(&i, &bounds).lack;
}

/* An interval with a wait, or one or two preemptions, in it or just after it,
 * as the word tells; and perhaps another rate from some tick on: the cycles of
 * its work, and of these what does not count and is no limit. The clock was
 * read as long ago as where it was compared: a part of what was missing there
 * is expected by that time. */
static uint64_t history_switch(struct history *h, uint64_t *work)
{
	struct cpuc_interval i = usual(h->lack);
	const bool host = rnd() % 2, before = rnd() % 2;
	const uint32_t preempted = (uint32_t)(rnd() % 3);
	const uint64_t run = any(22);
	uint64_t turn = rnd() % (run + 1), hidden, lack, higher, unseen;
	struct cpuc_closed closed;

	i.counted = any(20) % h->reading;
	i.unread = h->reading - i.counted;
	lack = history_lack(h, i.unread + i.counted, host && before);
	i.stood = rnd() % 4 == 0;
	hidden = i.stood ? run
			 : preempted * (uint64_t)cpuc_calibration.switch_hides;
	hidden = rnd() % (hidden + 1);
	i.ran = i.unread + i.counted + run -
		history_lack(h, i.unread + i.counted, false) -
		cpuc_min(hidden, run);
	i.unread += host && before ? h->pause : 0;
	i.ticks = i.counted + run + history_lack(h, run, host && !before) +
		  (i.stood ? 0 : any(26));
	i.switches = (struct cpuc_switches){preempted == 0, preempted};
	i.ratio_before = ONE / 2 + rnd() % ONE;
	i.ratio_after = rnd() % 2 ? i.ratio_before : ONE / 2 + rnd() % ONE;
	i.migrated = rnd() % 4 == 0;
	higher =
		i.ratio_before > i.ratio_after ? i.ratio_before : i.ratio_after;
	/* Where a core became slower, no more than this counts as before. */
	if (i.ratio_before > i.ratio_after && !i.migrated)
		turn = cpuc_min(turn, COUNT_RAMP);
	*work = cpuc_scaled(i.counted + turn, i.ratio_before) +
		cpuc_scaled(run - turn, i.ratio_after);
	h->known -= h->known / LOST_FADES;
	unseen = preempted ? 0 : (i.unread + i.counted) / LOST_UNSEEN;
	lack = cpuc_sub_sat(lack, h->known + unseen);
	closed = cpuc_interval_close(&i, &bounds);
	h->lack = closed.lack;
	return cpuc_sub_sat(*work, closed.cycles + cpuc_scaled(lack, higher));
}

/* Each of three parts is rounded down. */
#define ROUNDED 3

static void histories(void)
{
	const long asked = cases_begin(1000000);
	const long n = asked < 10000000 ? asked : 10000000;
	uint64_t work, missing;
	long k, low = 0;
	int j;

	for (k = 0; k < n; k++) {
		struct history h = {.taken = rnd() % 21,
				    .pause = rnd() % 2 ? any(24) : 0,
				    .reading =
					    COUNT_CLOCK_EVERY >>
					    rnd() % (COUNT_CLOCK_SOONEST + 1)};

		for (j = 0; j < 8; j++)
			history_compare(&h, j == 7);
		for (j = 0; j < 8; j++) {
			if (rnd() % 2)
				history_compare(&h, rnd() % 4 == 0);
			missing = history_switch(&h, &work);
			low += missing > work / 20 + ROUNDED;
		}
	}
	ok(low == 0,
	   "in %ld random histories %ld intervals are below 0.95 of the work",
	   n, low);
}

/* Each half of the ticks times each half of a ratio. */
static void scaled(void)
{
	ok(cpuc_scaled((UINT64_C(1) << 40) + 10, ONE + ONE / 2) ==
			   (UINT64_C(3) << 39) + 15 &&
		   cpuc_scaled((UINT64_C(1) << 40) + 10, ONE / 2) ==
			   (UINT64_C(1) << 39) + 5,
	   "ticks of more than 32 bits by ratios above 1 and below");
}

int main(void)
{
	cpuc_calibration.hz = 2500000000;
	cpuc_calibration.switch_hides = TICKS(SWITCH_HIDES_VIRTUAL);
	bounds = (struct cpuc_bounds){.hides = cpuc_calibration.switch_hides,
				      .wait = COUNT_GAP,
				      .ramp = COUNT_RAMP,
				      .least = COUNT_CLOCK_LEAST};
	scaled();
	singly();
	granted();
	proven();
	stood();
	lost();
	doubted();
	compared();
	histories();
	return done_testing();
}
