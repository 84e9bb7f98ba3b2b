/* SPDX-License-Identifier: 0BSD */
/* Does code that takes a known number of cycles count as that many?
 *
 * An emulator's instructions take what they take. So the chains are first held
 * against each other and against themselves twice, by CLOCK_MONOTONIC, which
 * the counter has no part in. */
#include <config.h>
#include "../common/known.h"
#include "selftest.h"
#include "../common/stats.h"

#define TIMINGS 1001
#define CHAINS (sizeof known / sizeof *known)
#define TRUST 80000 /* millionths: a chain of one cycle takes up to 4% */
		    /* longer while another thread uses the core */
#define WRONG 60000 /* of the chain that is disturbed the least */

/* Of each timing: what it counted and how many nanoseconds it took. */
struct timings {
	long long count[TIMINGS], ns[TIMINGS];
};

/* Chain k, so many times as long as KNOWN_CYCLES; NULL: nothing. */
static void time_one(struct timings *t, int i, const struct known *k,
		     unsigned times)
{
	unsigned long turns = k ? times * (KNOWN_CYCLES / k->turn) : 0;
	long long ns = selftest_ns(), count = cpucycles();

	if (k != NULL)
		k->loop(turns);
	else
		known_nothing();
	t->count[i] = cpucycles() - count;
	t->ns[i] = selftest_ns() - ns;
}

static long long median(long long *values, int n)
{
	stats_sort(values, n);
	return stats_quantile(values, n, 1, 2);
}

/* Millionths by which a and b differ; much where they are nothing. */
static long long apart(long long a, long long b)
{
	long long d = a > b ? a - b : b - a;

	return a > 0 && b > 0 ? d * 1000000 / b : 1000000;
}

/* Medians, those of an empty chain subtracted. */
struct lengths {
	long long count[CHAINS], ns[CHAINS]; /* of each chain */
	long long twice_ns;                  /* of the first, twice */
	int timings;
};

static void measure(const struct selftest *self, struct lengths *l)
{
	static struct timings empty, twice, chain[CHAINS];
	long long end = selftest_ns() + self->ms * 1000000LL;
	long long count, ns;
	size_t i;
	int n;

	/* By turns, so that all see the same machine. */
	for (n = 0; n < TIMINGS && (n < 21 || selftest_ns() < end); n++) {
		time_one(&empty, n, NULL, 0);
		time_one(&twice, n, &known[0], 2);
		for (i = 0; known[i].loop != NULL; i++)
			time_one(&chain[i], n, &known[i], 1);
	}
	count = median(empty.count, n);
	ns = median(empty.ns, n);
	for (i = 0; known[i].loop != NULL; i++) {
		l->count[i] = median(chain[i].count, n) - count;
		l->ns[i] = median(chain[i].ns, n) - ns;
	}
	l->twice_ns = median(twice.ns, n) - ns;
	l->timings = n;
}

/* What takes a known number of cycles takes as long as what takes the same,
 * and half as long as itself twice. Finds the least disturbed chain. */
static bool trusted(const struct lengths *l, size_t *best)
{
	size_t i;

	*best = 0;
	for (i = 0; known[i].loop != NULL; i++) {
		if (apart(l->ns[i], l->ns[0]) > TRUST)
			return false;
		if (l->ns[i] < l->ns[*best])
			*best = i;
	}
	return apart(l->twice_ns, 2 * l->ns[0]) <= TRUST;
}

enum outcome selftest_chain(struct selftest *self)
{
	struct lengths l;
	double counted;
	size_t best;

	if (!known_usable())
		return selftest_say(self, SKIPPED,
				    "no chain of known length for this CPU");
	measure(self, &l);
	if (!trusted(&l, &best))
		return selftest_say(self, SKIPPED,
				    "chains of %d cycles do not take as long "
				    "as each other, as on an emulated CPU",
				    KNOWN_CYCLES);
	counted = (double)l.count[best] / KNOWN_CYCLES;
	if (!self->follows)
		return selftest_say(self, SKIPPED,
				    "a clock of kind %s need not count the "
				    "core's cycles: it counts %.3f for each",
				    self->counter.kind, counted);
	return selftest_say(
		self,
		counted > 1 - WRONG / 1e6 && counted < 1 + WRONG / 1e6 ? GOOD
								       : OFF,
		"a chain of %d cycles (%s) counts as %lld, %.2f%% "
		"(median of %d, tolerance %d%%), at %lld MHz",
		KNOWN_CYCLES, known[best].name, l.count[best], counted * 100,
		l.timings, WRONG / 10000, KNOWN_CYCLES * 1000LL / l.ns[best]);
}
