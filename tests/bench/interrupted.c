/* SPDX-License-Identifier: 0BSD */
/* Interruptions: the cost of the call that follows one. */
#include <config.h>
#include <signal.h>
#include <string.h>
#include "bench.h"
#include "subject.h"

#define TABLE "interrupted"
#define SIGNALS 2000

static void nothing(int sig)
{
	(void)sig;
}

/* The median time of a call right after a signal was handled. */
static long long after_signal(void)
{
	static long long v[SIGNALS + 1];
	int i, n = bench_rounds(SIGNALS);
	long long t;

	for (i = 0; i < n; i++) {
		raise(SIGUSR1);
		t = bench_ns();
		cpucycles();
		v[i] = bench_ns() - t;
	}
	return bench_median(v, n);
}

static void bench(const struct cpucycles_counter *c)
{
	bench_progress("interruptions:", c->name);
	bench_value(TABLE, c->name, "kind", "%s", c->kind);
	bench_value(TABLE, c->name, "after a signal, ns", "%lld",
		    after_signal());
}

int main(void)
{
	struct cpucycles_counter c;
	unsigned i = 0;

	bench_title(TABLE, "4. Interruptions: a call after a signal");
	bench_note(TABLE, "the median of %d", bench_rounds(SIGNALS));
	signal(SIGUSR1, nothing);
	while (subject_next(&i, &c))
		bench(&c);
	bench_progress("", "");
	return 0;
}
