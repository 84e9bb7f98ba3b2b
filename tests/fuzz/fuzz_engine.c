/* SPDX-License-Identifier: 0BSD */
/* The engine on a pretended machine, called through the public interface. What
 * must hold of any machine is checked after each call. */
#include <config.h>
#include "machine.h"

/* So often each is called, or more often where that takes fewer cycles. */
#define LEAST 50

/* What is known beforehand of some counters. */
static void check_truth(size_t i)
{
	const struct fake *f = &fakes[i];
	const struct cpuc_slot *s = &cpuc_slots[i];
	bool opens = f->opening <= OPENS || f->opening > OPEN_FAULTS;

	if (!s->trial.tried || counters[i].kind == CPUC_ZERO ||
	    !strncmp(s->trial.reason, "not tried", 9))
		return;
	if (!opens || f->tried_as == STUCK ||
	    (f->tried_as == FAULTS && f->when <= LEAST))
		MUST(!s->trial.usable, "%zu works", i);
	if (f->tried_as == BACK_OFTEN && f->when > 1 && f->when < LEAST &&
	    counters[i].kind != CPUC_CALIBRATED)
		MUST(!s->trial.usable, "%zu goes back", i);
}

static void check_slots(void)
{
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		const struct cpuc_slot *s = &cpuc_slots[i];

		check_truth(i);
		if (!s->trial.tried)
			continue;
		MUST(s->trial.usable == (s->trial.reason[0] == '\0'), "%zu: %s",
		     i, s->trial.reason);
		MUST(memchr(s->trial.reason, '\0', sizeof s->trial.reason),
		     "%zu", i);
		if (counters[i].kind == CPUC_ZERO)
			continue;
		MUST(s->trial.usable == (cpuc_precision(s) > 0), "%zu: %lld", i,
		     cpuc_precision(s));
		MUST(!s->trial.usable ||
			     cpuc_precision(s) >
				     cpuc_kinds[counters[i].kind].added,
		     "%zu: %lld", i, cpuc_precision(s));
	}
	MUST(cpuc_current->trial.usable && cpuc_current->trial.tried, "%s",
	     cpuc_current->trial.reason);
	MUST(cpucycles == cpuc_current->reader.entry, "another entry");
}

/* The choice of a selection that nobody influenced. */
static void check_best(const unsigned *opens, const unsigned *closes)
{
	const struct cpuc_slot *best = cpuc_current, *s;
	size_t i, at = (size_t)(best - cpuc_slots);
	bool zero = counters[at].kind == CPUC_ZERO, earlier;
	long long least;

	for (i = 0; i < SLOTS; i++) {
		s = &cpuc_slots[i];
		least = s->trial.tried ? cpuc_precision(s)
				       : cpuc_kinds[counters[i].kind].added + 1;
		earlier = i < at;
		if (s->trial.tried && s->trial.usable &&
		    counters[i].kind != CPUC_ZERO)
			MUST(!zero && (cpuc_precision(best) < least ||
				       (cpuc_precision(best) == least &&
					!earlier) ||
				       s == best),
			     "%zu is better than %zu", i, at);
		if (!s->trial.tried && counters[i].kind != CPUC_ZERO)
			MUST(!zero && cpuc_precision(best) <= least,
			     "%zu may be better than %zu", i, at);
		if (i == COUNTERS || !counters[i].events)
			continue;
		MUST(s->trial.tried || fakes[i].opens == opens[i], "%zu opened",
		     i);
		if (s == best)
			MUST(fakes[i].is_open && fakes[i].closes == closes[i],
			     "%zu is closed", i);
		else
			MUST(!fakes[i].is_open &&
				     fakes[i].closes == closes[i] + 1,
			     "%zu is open", i);
	}
}

/* Where one counter was asked for, and works, no other is opened. */
static void check_only(const char *name, const unsigned *opens)
{
	size_t i;

	for (i = 0; i < COUNTERS; i++)
		if (strcmp(counters[i].name, name) != 0)
			MUST(fakes[i].opens == opens[i], "%zu", i);
		else
			MUST(!counters[i].events ||
				     counters[i].kind == CPUC_ZERO ||
				     fakes[i].is_open,
			     "%zu", i);
}

static void examine(void)
{
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		MUST(c.usable || c.reason[0] != '\0', "%u: no reason", i);
		MUST(!c.usable || c.reason[0] == '\0', "%u: %s", i, c.reason);
		MUST(cpuc_slots[i].trial.tried, "%u", i);
	}
	MUST(i == SLOTS && errno == EINVAL, "%u", i);
	errno = 4711;
}

/* Calls that count, a second apart: they go on, at the right rate. */
static void count(void)
{
	size_t i = (size_t)(cpuc_current - cpuc_slots);
	const struct fake *f = &fakes[i];
	enum cpuc_kind kind = counters[i].kind;
	uint64_t before = machine.ns;
	unsigned long long a, b, right;

	if (i == COUNTERS || kind == CPUC_ZERO) {
		MUST(cpucycles() == 0, "zero counts");
		return;
	}
	a = (unsigned long long)cpucycles();
	machine.ns += 1000000000;
	b = (unsigned long long)cpucycles() - a;
	/* A rate that was measured while it was another stays. */
	if (f->behaviour != FINE || f->changed || machine.stopped ||
	    machine.grain > 1000 || counters[i].clock == NULL ||
	    /* Coarse, both: measurements agree by accident. */
	    (machine.grain == 1000 && f->step * UINT64_C(10000000) > f->rate) ||
	    /* Not to be measured, and so taken for a core's. */
	    (clocks[i].nominal && clocks[i].hz == 0) ||
	    (f->stated != 0 && f->stated != f->rate) ||
	    (f->stated == 0 && nominal_rate < f->rate / 4) ||
	    /* So slow that no tick's beginning is waited for. */
	    f->step * UINT64_C(2000000) / f->rate >= f->cost + machine.cost)
		return;
	right = (machine.ns - before) / 1000;
	if (kind == CPUC_CALIBRATED)
		right *= (uint64_t)(machine.core * 1000);
	else
		right = right * (nominal_rate / 1000) / 1000;
	MUST(b <= right + right / 32 && b >= right - right / 32,
	     "%zu: %llu instead of %llu", i, b, right);
}

/* Once settled, the fields that readers load never change. */
static void check_settled(const struct cpuc_slot *before)
{
	bool same;
	size_t i;

	for (i = 0; i < SLOTS; i++) {
		const struct cpuc_slot *s = &cpuc_slots[i], *o = &before[i];

		/* NOLINTNEXTLINE: padding was copied, and stays. */
		same = memcmp(&s->reader, &o->reader, sizeof s->reader) == 0;
		MUST(o->reader.entry == NULL || same, "%zu", i);
	}
}

static void choose(const char *name)
{
	const struct cpuc_slot *was = cpuc_current;
	struct cpuc_slot before[SLOTS];
	unsigned opens[SLOTS], closes[SLOTS];
	long long (*entry)(void) = cpucycles;
	size_t i;
	int r;

	memcpy(before, cpuc_slots, sizeof before);
	for (i = 0; i < SLOTS; i++) {
		opens[i] = fakes[i].opens;
		closes[i] = fakes[i].closes;
	}
	errno = 4711;
	r = cpucycles_select(name);
	if (r != 0) {
		MUST(name && (errno == ENOENT || errno == ENOTSUP), "%d",
		     errno);
		MUST(cpuc_current == was && cpucycles == entry, "changed");
		for (i = 0; i < COUNTERS; i++)
			MUST(strcmp(counters[i].name, name) != 0 ||
				     !fakes[i].is_open,
			     "%zu is open", i);
		return;
	}
	MUST(errno == 4711, "%d", errno);
	check_settled(before);
	check_slots();
	if (name == NULL)
		name = asked_for;
	if (name && !strcmp(cpucycles_implementation(), name))
		check_only(name, opens);
	else
		check_best(opens, closes);
}

/* Without handlers no core can be tried, and something is chosen. */
static void last_resort(void)
{
	const struct cpuc_slot *s = cpuc_select(cpuc_slots, SLOTS, NULL);

	MUST(s->trial.usable && s->trial.reason[0] == '\0', "%s",
	     s->trial.reason);
	MUST(s->counter->kind >= CPUC_OS, "%s", s->counter->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {NULL, "a", "b", "c",
					    "d",  "e", "f", "nonsense"};
	struct fuzz_bytes b = {data, size};
	struct fake *f;
	int calls = 0;
	uint8_t x;

	build_machine(&b);
	choose(NULL);
	do {
		count();
		x = fuzz_byte(&b);
		/* A machine changes: it sleeps, or a counter's behaviour. */
		if (x & 0x40)
			machine.ns += UINT64_C(3600000000000);
		if (x & 0x80) {
			f = &fakes[x >> 3 & 3];
			f->behaviour =
				(enum behaviour)(fuzz_byte(&b) % BEHAVIOURS);
			f->changed = true;
		}
		if ((x & 7) == 7)
			examine();
		else if (x)
			choose(names[x % 8]);
	} while (x && ++calls < 4);
	last_resort();
	return 0;
}
