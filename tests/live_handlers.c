/* SPDX-License-Identifier: 0BSD */
/* Signal handlers of the application count at any time. sim_probe has the fault
 * signals that come in a selection. */
#include "faults/faults.h"

#if defined HAVE_LINUX_FILTER_H && defined __x86_64__
#include <ucontext.h>
#endif

#define PERIOD_US 50
#define FRESH 50

static volatile sig_atomic_t calls, back;
static volatile long long outside;  /* the main program's last count */
static volatile long long earliest; /* a handler's first */

static void count_in_handler(int sig)
{
	static long long last;
	long long before = outside, now = cpucycles();

	(void)sig;
	if (now < last || now < before)
		back = 1;
	if (last == 0)
		earliest = now;
	last = now;
	calls = calls + 1;
}

/* The same counter again and again, so that its counts can be compared. With
 * LIVE_REFUSED half of them may be refused: an emulated CPU may be faster than
 * its cycles. */
static int in_selections(void)
{
	long long first, last, now;
	const char *name;
	int i, refused = 0;

	signal(SIGALRM, count_in_handler);
	alarms(PERIOD_US);
	first = last = cpucycles();
	name = cpucycles_implementation();
	for (i = 0; i < 1000 || calls < 3; i++) {
		refused += i % 100 == 99 && cpucycles_select(name) != 0;
		/* ThreadSanitizer gives signals at the C library's calls. */
		time(NULL);
		now = cpucycles();
		if (now < last)
			return 2;
		last = outside = now;
	}
	alarms(0);
	if (refused > (getenv("LIVE_REFUSED") != NULL ? 5 : 0))
		return 3;
	/* During the selection there is no counter yet: a handler that ran then
	 * would have got the time. */
	if (llabs(earliest - first) / 60 > cpucycles_persecond())
		return 4;
	return back != 0;
}

static int all_fresh(void)
{
	int i, status = 0;

	for (i = 0; i < FRESH && status == 0; i++)
		status = in_child(in_selections);
	return status;
}

static volatile int stop;
static volatile sig_atomic_t inside; /* one has interrupted the engine */

/* SIGSYS, the one signal that the engine does not block, sent at any time. */
static void ask_in_handler(int sig)
{
	struct cpucycles_counter c;
	int saved = errno;

	(void)sig;
	if (cpucycles_counter(0, &c, sizeof c) != 0) {
		if (errno != EDEADLK)
			back = 1;
		inside = 1;
	}
	cpucycles();
	errno = saved;
}

static void *disturb(void *arg)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		pthread_kill(*(pthread_t *)arg, SIGSYS);
	return NULL;
}

static int disturbed(void)
{
	static const char clock[] = "default-monotonic";
	const struct sigaction sa = {.sa_handler = ask_in_handler};
	pthread_t self = pthread_self(), thread;
	long long hz;
	double end;
	int i, n = 0;

	if (SANITIZED || cpucycles_select(clock) != 0)
		return CANNOT;
	hz = cpucycles_persecond();
	/* System calls are not restarted. */
	sigaction(SIGSYS, &sa, NULL);
	if (pthread_create(&thread, NULL, disturb, &self) != 0)
		return CANNOT;
	end = wall_ns() + live_seconds() * 1e9;
	for (i = 0; (wall_ns() < end || !inside) && i < 100000; i++)
		n += cpucycles_select(clock) != 0;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return n != 0 || back || !inside || cpucycles_persecond() != hz;
}

#if defined HAVE_LINUX_FILTER_H && defined __x86_64__
/* A sandbox's handler answers sigaction(2) in the kernel's place, and counts:
 * also within the first call, which has the lock and no counter yet. */
static void answer(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
	if (info->si_syscall != SYS_rt_sigaction || cpucycles() == 0)
		back = 1;
	if (cpucycles_select(NULL) != 0)
		inside = 1;
	calls = calls + 1;
}

static int answered(void)
{
	struct sigaction sa = {.sa_sigaction = answer,
			       .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSYS, &sa, NULL);
	if (SANITIZED || deny(SYS_rt_sigaction, SECCOMP_RET_TRAP) != 0)
		return CANNOT;
	if (counts(1000) != 0 || calls == 0 || !inside || back)
		return 2;
	return selects_and_counts();
}
#else
static int answered(void)
{
	return CANNOT;
}
#endif

int main(void)
{
	point("signals every 50 us whose handler counts, in the first call of "
	      "50 processes, and in 500 selections",
	      all_fresh, "");
	point("SIGSYS is sent all the time, and its handler asks the engine",
	      disturbed, "no thread, or a sanitizer delays signals");
	point("a handler of SIGSYS counts, and answers a denied sigaction",
	      answered, "no filters, a sanitizer, or no x86-64");
	return done_testing();
}
