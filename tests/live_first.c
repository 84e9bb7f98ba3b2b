/* SPDX-License-Identifier: 0BSD */
/* The first call: 64 threads at once, in many fresh processes, and nothing of
 * the caller's changed by it. LIVE_FIRST_PROCESSES sets how many. */
#include "faults/faults.h"

#define THREADS 64

/* 0 if this thread's first count and those after it are good. */
static int racer(void)
{
	long long first;

	errno = 17;
	meet(THREADS);
	first = cpucycles();
	return errno != 17 || first == 0 || cpucycles() < first ||
	       counts(1000) != 0;
}

/* In a fresh process: the exit status is the number of wrong threads. */
static int race(void)
{
	pthread_attr_t attr;

	/* With large stacks, pthread_create(3) may fail on a small machine. */
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	return in_threads(THREADS, &attr, racer);
}

static void check_race(void)
{
	const char *many = getenv("LIVE_FIRST_PROCESSES");
	int n = many ? atoi(many) : 100, i, failed = 0, status;

	for (i = 0; i < n; i++) {
		status = in_child(race);
		if (status != 0 && failed++ == 0)
			diag("process %d: status %d", i, status);
	}
	ok(failed == 0, "%d processes, %d threads racing for the first call", n,
	   THREADS);
}

static void handler(int sig)
{
	(void)sig;
}

/* A flag that glibc adds to whatever it sets, and shows afterwards. */
#define RESTORER 0x04000000

static int undisturbed(void)
{
	struct sigaction before[32], after;
	sigset_t mask, now;
	int sig, fd = lowest_descriptor(), cancel, changed = 0;

	for (sig = 1; sig < 32; sig += 3)
		signal(sig, handler);
	sigemptyset(&mask);
	sigaddset(&mask, SIGSEGV);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	for (sig = 1; sig < 32; sig++)
		sigaction(sig, NULL, &before[sig]);
	errno = EDOM;
	cpucycles();
	changed += errno != EDOM;
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (sig = 1; sig < 32; sig++) {
		changed += sigismember(&now, sig) != sigismember(&mask, sig);
		if (sigaction(sig, NULL, &after) != 0)
			continue;
		changed += after.sa_handler != before[sig].sa_handler ||
			   (after.sa_flags & ~RESTORER) !=
				   (before[sig].sa_flags & ~RESTORER);
	}
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	changed += cancel != PTHREAD_CANCEL_ENABLE;
	return changed + (lowest_descriptor() != fd);
}

/* All in children: this process never counts.
 * The nominal rate, asked for before anything else. */
static int rate_first(void)
{
	return cpucycles_persecond() < 1000000 || selects_and_counts();
}

/* As in a child that has the selection, but cpucycles as it was before: fork
 * copies page by page. */
static int half_published(void)
{
	long long (*before)(void) = cpucycles;

	cpucycles();
	cpucycles = before;
	return selects_and_counts();
}

int main(void)
{
	check_race();
	point("errno, signal mask and dispositions, cancelability and "
	      "descriptors are untouched",
	      undisturbed, "");
	point("a child is told the nominal rate before it counts", rate_first,
	      "");
	point("and with half of its parent's selection", half_published, "");
	return done_testing();
}
