/* SPDX-License-Identifier: 0BSD */
/* Does a thread count on when it moves to another CPU? */
#include <config.h>
#include <string.h>
#include "../common/affinity.h"
#include "selftest.h"

#define STAY_MIN 50000 /* ns on a CPU: its count is looked at many times */

struct moves {
	long long last;
	long long worst; /* how far the count went back, at most */
	int done, back;
};

static void note(struct moves *m, long long now)
{
	if (m->last - now > m->worst)
		m->worst = m->last - now;
	m->last = now;
}

/* Once to every CPU. Two rounds have a way back for each way there, so that a
 * CPU whose count is ahead is found as one whose count is behind. */
static void visit_all(struct moves *m, const struct affinity *a, long long stay)
{
	long long end, worst;
	int cpu;

	for (cpu = affinity_next(a, -1); cpu >= 0;
	     cpu = affinity_next(a, cpu)) {
		if (affinity_pin(a, cpu) != 0)
			continue;
		worst = m->worst;
		m->worst = 0;
		end = selftest_ns() + stay;
		do
			note(m, cpucycles());
		while (selftest_ns() < end);
		m->done++;
		m->back += m->worst > 0;
		if (worst > m->worst)
			m->worst = worst;
	}
}

enum outcome selftest_migration(struct selftest *self)
{
	struct moves m = {cpucycles(), 0, 0, 0};
	int n, rounds, i;
	struct affinity a;
	long long stay;
	int err = affinity_get(&a);

	if (err)
		return selftest_say(self, SKIPPED,
				    "a thread cannot choose its CPU here: %s",
				    strerror(err));
	n = affinity_count(&a);
	if (n > 1) {
		rounds = n < 16 ? 32 / n : 2;
		stay = self->ms * 1000000LL / (n * rounds);
		for (i = 0; i < rounds; i++)
			visit_all(&m, &a, stay > STAY_MIN ? stay : STAY_MIN);
	}
	affinity_end(&a);
	if (m.done < 2)
		return selftest_say(self, SKIPPED,
				    "this process may run on one CPU only");
	if (m.back > 0 && self->cores)
		return selftest_say(self, SKIPPED,
				    "each core has a count of its own: after "
				    "%d of %d moves it was lower, by up to "
				    "%lld",
				    m.back, m.done, m.worst);
	if (m.back > 0)
		return selftest_say(self, BAD,
				    "after %d of %d moves between %d CPUs the "
				    "count went back, by up to %lld",
				    m.back, m.done, n, m.worst);
	return selftest_say(self, GOOD,
			    "%d moves between %d CPUs, the count never went "
			    "back",
			    m.done, n);
}
