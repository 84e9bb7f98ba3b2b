/* SPDX-License-Identifier: 0BSD */
/* Interruptions: the cost of the call that follows one, and the share of their
 * own time that two threads on one CPU count. */
#include <config.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include "bench.h"
#include "subject.h"
#include "tools/common/affinity.h"

#define TABLE "interrupted"
#define SIGNALS 2000
#define RAN_NS 100000000

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

static long long ran_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (long long)t.tv_sec * 1000000000 + t.tv_nsec;
}

struct sharer {
	pthread_t id;
	long long ns, count;
};

static void *share(void *arg)
{
	struct sharer *s = arg;
	long long count, ran;
	int i;

	cpucycles();
	ran = ran_ns();
	count = cpucycles();
	do
		for (i = 0; i < 100000; i++)
			__asm__ __volatile__("");
	while (ran_ns() - ran < RAN_NS);
	s->count = cpucycles() - count;
	s->ns = ran_ns() - ran;
	return NULL;
}

/* Counts per ns of their own of so many threads on this CPU; 0: not here. */
static double sharing(int threads)
{
	struct sharer s[2];
	struct affinity cpus;
	double count = 0, ns = 1;
	int n, i;

	if (affinity_get(&cpus) != 0)
		return 0;
	affinity_pin(affinity_here());
	for (n = 0; n < threads; n++)
		if (pthread_create(&s[n].id, NULL, share, &s[n]) != 0)
			break;
	affinity_end(&cpus);
	for (i = 0; i < n; i++) {
		pthread_join(s[i].id, NULL);
		count += (double)s[i].count;
		ns += (double)s[i].ns;
	}
	return n == threads ? count / ns : 0;
}

static void bench(const struct cpucycles_counter *c)
{
	double alone, both;

	bench_progress("interruptions:", c->name);
	bench_value(TABLE, c->name, "kind", "%s", c->kind);
	bench_value(TABLE, c->name, "after a signal, ns", "%lld",
		    after_signal());
	alone = sharing(1);
	both = sharing(2);
	if (alone > 0 && both > 0)
		bench_value(TABLE, c->name, "sharing a CPU, of alone", "%.3f",
			    both / alone);
}

int main(void)
{
	struct cpucycles_counter c;
	unsigned i = 0;

	bench_title(TABLE, "4. Interruptions: a call after a signal, and what "
			   "two threads on one CPU count a second of their "
			   "own time");
	bench_note(TABLE,
		   "after a signal: the median of %d; sharing: each thread "
		   "runs for %d ms; in proportion to one thread alone",
		   bench_rounds(SIGNALS), RAN_NS / 1000000);
	signal(SIGUSR1, nothing);
	while (subject_next(&i, &c))
		bench(&c);
	bench_progress("", "");
	return 0;
}
