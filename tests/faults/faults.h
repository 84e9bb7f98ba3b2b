/* SPDX-License-Identifier: 0BSD */
/* For tests that make something fail before the first call: a child for each
 * fault, and its findings. */
#ifndef FAULTS_H
#define FAULTS_H

#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "cpucycles.h"
#include "deny.h"
#include "../tap.h"

/* A child's exit status is 0 if all is well, a small number that tells the
 * mistake, or one of these. */
#define CANNOT 55   /* the fault cannot be made here */
#define KILLED 1000 /* plus the signal */

UNUSED static double ns_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

UNUSED static double ran_ns(void)
{
	return ns_of(CLOCK_THREAD_CPUTIME_ID);
}

UNUSED static double wall_ns(void)
{
	return ns_of(CLOCK_MONOTONIC);
}

/* SIGALRM again and again; 0: no longer. */
UNUSED static void alarms(int every_us)
{
	struct itimerval t = {{0, every_us}, {0, every_us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

/* How long the long scenarios are to last. */
UNUSED static double live_seconds(void)
{
	const char *text = getenv("LIVE_SECONDS");

	return text != NULL && atof(text) > 0 ? atof(text) : 0.3;
}

/* A process's findings, where its parent can read them. The pointers in it are
 * to constants. */
struct seen {
	char name[64], kind[16];
	long long hz;
	struct cpucycles_counter counter[32];
};

/* Seconds: an emulated machine with one CPU is slow, and a child's child must
 * be killed by the child. */
UNUSED static int patience = 240;

/* From one look at a child to the next. */
UNUSED static long nap_ns = 500000;

/* Runs f in a child, and acts on it again and again until it ends. It is killed
 * if it is in a deadlock: alarm could be blocked, or in use. */
UNUSED static int in_child_beside(int (*f)(void), void (*act)(pid_t))
{
	const struct timespec nap = {0, nap_ns};
	const struct rlimit none = {0, 0};
	const double end = wall_ns() + patience * 1e9;
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		patience /= 2;
#ifdef PR_SET_PDEATHSIG
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
		setrlimit(RLIMIT_CORE, &none);
		_exit(f());
	}
	while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
		if (wall_ns() > end)
			kill(pid, SIGKILL);
		if (act != NULL)
			act(pid);
		nanosleep(&nap, NULL);
	}
	return WIFSIGNALED(status) ? KILLED + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

UNUSED static int in_child(int (*f)(void))
{
	return in_child_beside(f, NULL);
}

static int (*thread_body)(void);

static void *thread_run(void *result)
{
	*(int *)result = thread_body();
	return NULL;
}

/* Runs f in so many threads at once, of at most 80; the bits of all results, or
 * CANNOT, with those that have begun left to the process's end: they may wait
 * for the others. */
UNUSED static int in_threads(int n, const pthread_attr_t *attr, int (*f)(void))
{
	static int result[80];
	pthread_t id[80];
	int all = 0, i;

	thread_body = f;
	for (i = 0; i < n; i++)
		if (pthread_create(&id[i], attr, thread_run, &result[i]) != 0)
			return CANNOT;
	for (i = 0; i < n; i++) {
		pthread_join(id[i], NULL);
		all |= result[i];
	}
	return all;
}

/* Waits until n threads are here. All calls in a process are of one n. macOS
 * has no barriers. */
UNUSED static void meet(unsigned n)
{
	static unsigned came;
	unsigned before = __atomic_fetch_add(&came, 1, __ATOMIC_ACQ_REL);

	while (__atomic_load_n(&came, __ATOMIC_ACQUIRE) <
	       before - before % n + n)
		sched_yield();
}

/* One point: that f is good in a child, unless it cannot be made there. */
UNUSED static void point(const char *text, int (*f)(void), const char *why_not)
{
	int status = in_child(f);

	if (status == CANNOT)
		skip("%s: %s", text, why_not);
	else
		ok(status == 0, "%s (%d)", text, status);
}

/* In a child: an emulator passes no filters on. Its memory is in this process,
 * and its threads die of fault signals that are sent to the process. */
UNUSED static int emulated(void)
{
#ifdef HAVE_LINUX_FILTER_H
	return deny(SYS_sched_setaffinity, SECCOMP_RET_ERRNO | EPERM) != 0;
#else
	return 0;
#endif
}

/* 0 if the count never goes back over so many calls, and advances. */
UNUSED static int counts_by(long long (**count)(void), int calls)
{
	long long first = (*count)(), last = first, now;

	while (calls-- > 0) {
		now = (*count)();
		if (now < last)
			return 2;
		last = now;
	}
	/* Clocks of microseconds, or slower ones under an emulator. */
	for (calls = 0; calls < 1000000 && last == first; calls++)
		last = (*count)();
	return last > first ? 0 : 3;
}

UNUSED static int counts(int calls)
{
	return counts_by(&cpucycles, calls);
}

UNUSED static int selects_and_counts(void)
{
	return counts(100) != 0 || cpucycles_select(NULL) != 0 ||
	       counts(100) != 0;
}

/* The lowest that is free. */
UNUSED static int lowest_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

/* How many there are in this process; 0 where no /proc tells. */
UNUSED static int mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int c, n = 0;

	while (f != NULL && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f != NULL)
		fclose(f);
	return n;
}

UNUSED static void look(struct seen *s)
{
	unsigned i = 0;

	strcpy(s->name, cpucycles_implementation());
	strcpy(s->kind, cpucycles_kind());
	s->hz = cpucycles_persecond();
	while (i < 32 &&
	       cpucycles_counter(i, &s->counter[i], sizeof *s->counter) == 0)
		i++;
}

/* NULL: this machine has no such counter. */
UNUSED static const struct cpucycles_counter *seen_counter(const struct seen *s,
							   const char *name)
{
	unsigned i;

	for (i = 0; i < 32 && s->counter[i].name != NULL; i++)
		if (!strcmp(s->counter[i].name, name))
			return &s->counter[i];
	return NULL;
}

/* The fault took nothing away: the counter selected without it is usable, and
 * it or one of its kind is selected. Which of two equally precise ones wins may
 * vary, and a busy machine may have refused to be calibrated without it. */
UNUSED static int as_good(const struct seen *s, const struct seen *without)
{
	const struct cpucycles_counter *c = seen_counter(s, without->name);

	return c != NULL && c->usable &&
	       (!strcmp(s->kind, without->kind) ||
		!strcmp(s->kind, "calibrated"));
}

/* Memory that children write and their parent reads. */
UNUSED static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		skip_all("no memory that is shared");
	return p;
}

#endif
