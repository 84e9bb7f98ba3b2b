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
#include "thread/thread.h"
#include "cases.h"

#define G UINT64_C(1000000000)

/* Each thread's clock, and what a storm of signals adds to it. */
static __thread uint64_t pretended_ns = 4 * G;
static volatile sig_atomic_t jumps;
#define JUMP_NS (G / 5)

static uint64_t coarse_ns(void)
{
	return pretended_ns + (uint64_t)jumps * JUMP_NS;
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
	struct cpuc_anchor from = {UINT64_C(5) << 32, 7 * G, G + 7};

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
		after += i / 8 % 2 || after < error ? error : -error;
		got = cpuc_extend32_at(&from, (uint32_t)after, from.ns + ns);
		if (got != after && bad++ == 0)
			diag("%" PRIu64 " after %" PRIu64 " ns at %" PRIu64
			     " Hz gave %" PRIu64 ", not %" PRIu64,
			     from.full, ns, rate, got, after);
	}
	ok(bad == 0, "%ld random counts, rates and gaps give the count", cases);
}

/* Counters of 4 GHz on the pretended clock, far apart. Their rates are stated
 * somewhat wrong, so that errors do not cancel out. The last one's is far too
 * high: its counts are right while anchors are young. */
static const struct cpuc_anchor firsts[] = {
	{UINT64_C(5) << 40, 3 * G, 4 * G + 7},
	{UINT64_C(9) << 50, 3 * G, 4 * G + 7},
	{UINT64_C(3) << 45, 3 * G, 56 * G / 10}};

static uint64_t true_of(int i)
{
	return firsts[i].full + 4 * (coarse_ns() - firsts[i].ns);
}

static long long read_low(void)
{
	/* The same of all. */
	return (long long)(uint32_t)true_of(0);
}

static bool right_of(int i)
{
	return cpuc_extend32(&firsts[i], read_low) == true_of(i);
}

struct follower {
	pthread_t id;
	uint64_t pause;
	int bad;
};

static void *follow(void *arg)
{
	struct follower *f = arg;
	int i;

	for (i = 0; i < 20000; i++) {
		pretended_ns += i % 1000 < 999 ? 1000000 : f->pause;
		f->bad += !right_of(2);
	}
	return NULL;
}

static void check_threads(void)
{
	struct follower f[4] = {{.bad = 0}};
	int i, all = 0;

	for (i = 0; i < 4; i++) {
		f[i].pause = G / 10 * (5 + (unsigned)i);
		pthread_create(&f[i].id, NULL, follow, &f[i]);
	}
	for (i = 0; i < 4; i++) {
		pthread_join(f[i].id, NULL);
		all += f[i].bad;
	}
	ok(all == 0, "four threads, pauses and wraps (%d wrong)", all);
}

static volatile sig_atomic_t handlers, handlers_wrong, may_jump;

/* One jump a count: three at once are too far for the anchor. */
static void storm(int sig)
{
	(void)sig;
	jumps = jumps + may_jump;
	may_jump = 0;
	handlers_wrong |= !right_of(1) || !right_of(0);
	handlers = handlers + 1;
}

static void check_storm(void)
{
	const struct itimerval fast = {{0, 50}, {0, 50}},
			       never = {{0, 0}, {0, 0}};
	const struct timespec nap = {0, 1};
	uint64_t before, got;
	int bad = 0, i;

	signal(SIGALRM, storm);
	setitimer(ITIMER_REAL, &fast, NULL);
	for (i = 0; handlers < 300; i++) {
		may_jump = 1;
		before = true_of(0);
		got = cpuc_extend32(&firsts[0], read_low);
		bad += got < before || got > true_of(0);
		/* ThreadSanitizer runs handlers after system calls alone. */
		if (i % 4096 == 4095)
			nanosleep(&nap, NULL);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	ok(bad == 0 && !handlers_wrong, "a storm of signals (%d wrong)", bad);
	pretended_ns = coarse_ns();
	jumps = 0;
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
	for (i = 0; i < 2; i++) {
		denied = i == 0;
		interrupts = i == 1;
		pthread_create(&id, NULL, first_counts, NULL);
		pthread_join(id, NULL);
	}
	interrupts = false;
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
	got = cpuc_extend32(&firsts[0], read_low);
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

/* Steps to some of the instructions, or to every one in make check-long. */
static void check_steps(void)
{
	static const uint64_t gaps[] = {0, 1, 2 * RENEW_NS, 2 * RENEW_NS + 1};
	struct sigaction sa = {.sa_sigaction = stepped,
			       .sa_flags = SA_SIGINFO | SA_NODEFER};
	static const uint64_t ages[] = {0, OTHER, 2 * RENEW_NS};
	long step, all = 0, stride = getenv("CASES") ? 1 : 29;
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
	return read_low();
}

static void check_wait(void)
{
	waits = G / 10 * 8;
	ok(cpuc_extend32(&firsts[0], waiting) == true_of(0),
	   "a wait between the two readings: they are read again");
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
	check_storm();
	check_threads();
	return done_testing();
}
