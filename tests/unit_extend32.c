/* SPDX-License-Identifier: 0BSD */
/* 32-bit counts to 64 bits: calls nanoseconds, seconds and hours apart, in
 * several threads, and in a signal handler, at every instruction. */
#define _GNU_SOURCE
#include <config.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include "system/os_clock.h"
#include "system/thread.h"
#include "cases.h"

#define G UINT64_C(1000000000)

static uint64_t pretended_ns; /* 0: the real clock */

static uint64_t coarse_ns(void)
{
	return pretended_ns ? pretended_ns : cpuc_os_clock_coarse_ns();
}

static __thread unsigned asked; /* for memory */
static bool denied, interrupts;

static void *memory(size_t size, void (*ended)(void *memory, bool last))
{
	asked++;
	if (interrupts)
		raise(SIGUSR1);
	if (denied)
		errno = ENOMEM;
	return denied ? NULL : cpuc_thread_memory(size, ended);
}

#define cpuc_os_clock_coarse_ns coarse_ns
#define cpuc_thread_memory memory
#include "../src/extend32.c"

static void check_odd(void)
{
	struct cpuc_anchor from = {UINT64_C(5) << 32, 7 * G, 1 * G};

	ok(cpuc_extend32_at(&from, UINT32_MAX, 7 * G) ==
		   (UINT64_C(5) << 32) - 1,
	   "a count one tick behind is one tick behind, not a wrap ahead");
	ok(cpuc_extend32_at(&from, 3, 6 * G) == (UINT64_C(5) << 32) + 3,
	   "a second clock that went back adds nothing");
	from.full = 2;
	ok(cpuc_extend32_at(&from, 0xfffffff0, 7 * G) == 0xfffffff0,
	   "no count is below 0");
	from = (struct cpuc_anchor){0, 0, 0};
	ok(cpuc_extend32_at(&from, 5, 2 * G) == (UINT64_C(1) << 32) + 5,
	   "without a rate a wrap is taken to last two seconds");
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
		/* The prediction counts whole microseconds. */
		uint64_t most = (UINT64_C(1) << 31) - rate / 1000000 - 3;
		uint64_t error = any(31) % most, after, got;
		struct cpuc_anchor from = {any(62), any(60), rate};

		/* Every other one is at a possible wrap. */
		if (i % 2)
			from.full = top[i / 2 % 4] + any(8) - any(8) -
				    predicted(rate, ns);
		after = from.full + predicted(rate, ns);
		if (i / 8 % 2 || after < error)
			after += error;
		else
			after -= error;
		got = cpuc_extend32_at(&from, (uint32_t)after, from.ns + ns);
		if (got != after && bad++ == 0)
			diag("%" PRIu64 " after %" PRIu64 " ns at %" PRIu64
			     " Hz gave %" PRIu64 ", not %" PRIu64,
			     from.full, ns, rate, got, after);
	}
	ok(bad == 0, "%ld random counts, rates and gaps give the count", cases);
}

/* A counter of 2^32 ticks a second, made from the clock: it wraps while the
 * test runs, and the full count is known. */
static uint64_t true_count(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return ((uint64_t)t.tv_sec << 32) +
	       ((uint64_t)t.tv_nsec << 32) / 1000000000;
}

static long long fake(void)
{
	return (long long)(uint32_t)true_count();
}

static struct cpuc_anchor anchor;

static int follow(double seconds)
{
	uint64_t begin = true_count(), before, got, after, last = 0;
	int bad = 0;

	while (true_count() - begin < (uint64_t)(seconds * 4294967296.0)) {
		before = true_count();
		got = cpuc_extend32(&anchor, fake);
		after = true_count();
		bad += got < before || got > after || got < last;
		last = got;
	}
	return bad;
}

static void *thread(void *arg)
{
	struct timespec pause = {0, 700000000};
	int *bad = arg;

	*bad = follow(0.3);
	nanosleep(&pause, NULL);
	*bad += follow(0.3);
	return NULL;
}

/* Any of the threads may be the one that is interrupted. */
static int handler_bad, handler_runs;

static void handler(int sig)
{
	uint64_t before = true_count(), got = cpuc_extend32(&anchor, fake);

	(void)sig;
	if (got < before || got > true_count())
		__atomic_fetch_add(&handler_bad, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&handler_runs, 1, __ATOMIC_RELAXED);
}

/* qemu-i386 (7.2) gives a thread that gets a signal the thread-local storage of
 * another: signals come while there is only one. */
#ifdef __i386__
#define ALONE 1
#else
#define ALONE 0
#endif

static void check_live(void)
{
	const struct itimerval fast = {{0, 50}, {0, 50}},
			       never = {{0, 0}, {0, 0}};
	pthread_t id[4];
	int bad[4] = {0}, i, all = 0, main_bad;

	anchor.ns = coarse_ns();
	anchor.full = true_count();
	/* This rate is far too high: counts are right while anchors are young.
	 */
	anchor.rate = (UINT64_C(1) << 32) / 10 * 14;
	signal(SIGALRM, handler);
	for (i = 0; i < 4 && !ALONE; i++)
		pthread_create(&id[i], NULL, thread, &bad[i]);
	setitimer(ITIMER_REAL, &fast, NULL);
	main_bad = follow(0.5);
	setitimer(ITIMER_REAL, &never, NULL);
	for (i = 0; i < 4 && ALONE; i++)
		pthread_create(&id[i], NULL, thread, &bad[i]);
	for (i = 0; i < 4; i++) {
		pthread_join(id[i], NULL);
		all += bad[i];
	}
	ok(all == 0, "four threads, pauses and a wrap (%d wrong)", all);
	ok(main_bad == 0, "a thread under a storm of signals (%d wrong)",
	   main_bad);
	ok(handler_runs > 0 && handler_bad == 0, "%d handlers (%d wrong)",
	   handler_runs, handler_bad);
}

/* Two counters on the pretended clock, far apart, of 4 GHz. */
static struct cpuc_anchor two[] = {{UINT64_C(5) << 40, 3 * G, 4 * G},
				   {UINT64_C(9) << 50, 3 * G, 4 * G}};

static uint64_t true_of(int i)
{
	return two[i].full + 4 * (pretended_ns - two[i].ns);
}

static long long read_first(void)
{
	return (long long)(uint32_t)true_of(0);
}

static long long read_second(void)
{
	return (long long)(uint32_t)true_of(1);
}

static bool right_of(int i)
{
	return cpuc_extend32(&two[i], i ? read_second : read_first) ==
	       true_of(i);
}

static int seen; /* in the handler: bits */

static void seen_in_handler(int sig)
{
	(void)sig;
	seen |= cpuc_guard_inside ? 2 : 1;
	seen |= right_of(0) ? 0 : 4;
}

static bool blocks_usr1(void)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, SIGUSR1) == 1;
}

/* A thread's first counts, in the midst of a change and after it, and with a
 * signal in the midst of their own. */
static void *first_counts(void *arg)
{
	struct extend32_thread was;

	(void)arg;
	asked = 0;
	errno = 0;
	cpuc_guard_inside = true;
	ok(right_of(0) && right_of(1) && asked == 0,
	   "in the midst of a change nothing is asked for");
	cpuc_guard_inside = false;
	ok(right_of(0) && right_of(1) && asked == 1,
	   "memory is asked for once%s", denied ? ", and denied" : "");
	ok(right_of(0) && asked == 1 && errno == 0, "errno stays");
	if (denied)
		return NULL;
	ok(seen == 1 && !blocks_usr1() && !cpuc_guard_inside,
	   "a handler comes after the change");
	was = *extend32_own;
	pretended_ns += 2 * RENEW_NS;
	cpuc_guard_inside = true;
	ok(right_of(0) && was.first == extend32_own->first &&
		   was.at.ns == extend32_own->at.ns &&
		   was.renewals == extend32_own->renewals,
	   "in the midst of a change the anchor stays");
	cpuc_guard_inside = false;
	ok(right_of(0) && extend32_own->at.ns == pretended_ns,
	   "and is renewed after it");
	return NULL;
}

static void check_guard(void)
{
	pthread_t id;
	int i;

	signal(SIGUSR1, seen_in_handler);
	pretended_ns = 4 * G;
	for (i = 0; i < 2; i++) {
		denied = i == 0;
		interrupts = i == 1;
		pthread_create(&id, NULL, first_counts, NULL);
		pthread_join(id, NULL);
	}
	interrupts = false;
	pretended_ns = 0;
}

#if defined __linux__ && defined __x86_64__
#include "single_steps.h"

#define OTHER 1

static volatile bool wrong;
static uint64_t passes; /* ns, before the handler counts */

static void stepped(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (!steps_made(context))
		return;
	pretended_ns += passes;
	if (!right_of(1) || !right_of(0) || (passes & 1 && !right_of(1)))
		wrong = true;
}

/* A count of a thread whose anchor is so old, or is the other counter's, with a
 * handler after so many instructions; false: the count ended before. */
static bool at_step(uint64_t age, long step)
{
	uint64_t before, got;
	bool acted;

	pretended_ns = 4 * G;
	right_of(0);
	pretended_ns += age;
	if (age == OTHER)
		right_of(1);
	before = true_of(0);
	steps = step;
	__asm__ volatile("int3");
	got = cpuc_extend32(&two[0], read_first);
	acted = steps == 0;
	steps = 0;
	if ((got != before && got != true_of(0)) || !right_of(0))
		wrong = true;
	return acted;
}

static bool some_steps(void)
{
	return at_step(0, 9) && !at_step(0, 100000);
}

/* Steps to every seventh instruction, or to every one in make check-long. */
static void check_steps(void)
{
	static const uint64_t gaps[] = {0, 1, 2 * RENEW_NS, 2 * RENEW_NS + 1};
	struct sigaction sa = {.sa_sigaction = stepped,
			       .sa_flags = SA_SIGINFO | SA_NODEFER};
	static const uint64_t ages[] = {0, OTHER, 2 * RENEW_NS};
	long step, all = 0, stride = getenv("CASES") ? 1 : 7;
	int i;

	sigaction(SIGTRAP, &sa, NULL);
	if (SANITIZED || !steps_work(some_steps)) {
		skip("no single steps here");
		return;
	}
	for (i = 0; i < 12; i++) {
		passes = gaps[i / 3];
		for (step = 1 + i % stride; at_step(ages[i % 3], step);
		     step += stride)
			all++;
	}
	ok(!wrong && all * stride > 400,
	   "handlers that count at %ld instructions", all);
	pretended_ns = 0;
}
#else
static void check_steps(void)
{
	skip("single steps are known for x86-64 Linux alone");
}
#endif

/* A thread that waits 0.8 s between its readings of clock and count, once. */
static uint64_t waits;

static long long waiting(void)
{
	pretended_ns += waits;
	waits = 0;
	return (long long)(uint32_t)(pretended_ns * 4);
}

static void check_wait(void)
{
	static struct cpuc_anchor from = {5 * G * 4, 5 * G, 4 * G};

	pretended_ns = 6 * G;
	waits = 8 * G / 10;
	ok(cpuc_extend32(&from, waiting) == pretended_ns * 4,
	   "a wait between the two readings: they are read again");
	pretended_ns = 0;
}

int main(void)
{
	long cases = cases_begin(200000);

	check_odd();
	check_random(cases);
	ok(cpuc_thread_prepare() == 0, "threads may have anchors");
	check_wait();
	check_guard();
	check_steps();
	check_live();
	return done_testing();
}
