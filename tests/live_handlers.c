/* SPDX-License-Identifier: 0BSD */
/* Signal handlers of the application count at any time. sim_probe has the fault
 * signals that come in a selection. */
#include "faults/faults.h"

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

/* The same counter again and again, so that its counts can be compared. */
static int in_selections(void)
{
	long long first, last, now;
	const char *name;
	int i;

	signal(SIGALRM, count_in_handler);
	alarms(PERIOD_US);
	first = last = cpucycles();
	name = cpucycles_implementation();
	for (i = 0; i < 1000 || calls < 3; i++) {
		if (i % 100 == 99 && cpucycles_select(name) != 0)
			return 3;
		/* ThreadSanitizer gives signals at the C library's calls. */
		time(NULL);
		now = cpucycles();
		if (now < last)
			return 2;
		last = outside = now;
	}
	alarms(0);
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
	return status == 0 ? 0 : 2;
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

int main(void)
{
	point("signals every 50 us whose handler counts, in the first call of "
	      "50 processes, and in 500 selections",
	      all_fresh, "");
	point("SIGSYS is sent all the time, and its handler asks the engine",
	      disturbed, "no thread, or a sanitizer delays signals");
	return done_testing();
}
