/* SPDX-License-Identifier: 0BSD */
/* RDTSC forbidden by prctl(PR_SET_TSC), with which the vDSO's clocks fault
 * too: before the first call, and after it. */
#include "faults/faults.h"

#include <pthread.h>
#include <setjmp.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#ifdef PR_SET_TSC

static int forbid(void)
{
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0 ? 0 : CANNOT;
}

/* The system's clock, by system calls, and every reader of the TSC says why
 * it is not used. */
static int recovered(void)
{
	struct cpucycles_counter c;
	unsigned i;

	if (counts(100000) != 0)
		return 2;
	/* The speed decides which of the system's clocks: see valgrind. */
	if (strcmp(cpucycles_kind(), "os") != 0)
		return 4;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (strstr(c.name, "tsc") &&
		    (c.usable || !strstr(c.reason, "RDTSC is forbidden")))
			return 5;
	return cpucycles_persecond() < 1000000 ? 6 : 0;
}

static int has_core(void)
{
	return !strcmp(cpucycles_kind(), "core");
}

static int before_first(void *arg)
{
	(void)arg;
	if (forbid() != 0)
		return CANNOT;
	if (counts(1000) != 0)
		return 2;
	return has_core() ? 0 : recovered();
}

/* PR_GET_TSC answers as if nothing were forbidden, or fails: the probe finds
 * the fault. */
static int unasked(void *arg)
{
	if (forbid() != 0)
		return CANNOT;
#ifdef HAVE_LINUX_FILTER_H
	if (deny(SYS_prctl, *(const unsigned *)arg) != 0)
		return CANNOT;
	return counts(100000) != 0 || !strcmp(cpucycles_kind(), "zero");
#else
	(void)arg;
	return CANNOT;
#endif
}

static int by_name(void *arg)
{
	(void)arg;
	if (forbid() != 0)
		return CANNOT;
	setenv("cpucyclesimplementation", "amd64-tsc", 1);
	return counts(1000) != 0 ||
	       !strcmp(cpucycles_implementation(), "amd64-tsc");
}

static int after_selection(void *arg)
{
	(void)arg;
	cpucycles();
	if (has_core())
		return CANNOT;
	if (forbid() != 0)
		return CANNOT;
	if (cpucycles_select(NULL) != 0)
		return 3;
	return recovered();
}

/* As the manual says: without it, the next count faults. */
static int no_recovery(void *arg)
{
	(void)arg;
	cpucycles();
	if (has_core() || forbid() != 0)
		return CANNOT;
	counts(1);
	return 0;
}

static sigjmp_buf way_out;

static void leave(int sig)
{
	siglongjmp(way_out, sig);
}

/* A program may catch that fault, and select then. */
static int after_fault(void *arg)
{
	(void)arg;
	cpucycles();
	if (has_core() || forbid() != 0)
		return CANNOT;
	signal(SIGSEGV, leave);
	if (sigsetjmp(way_out, 1) == 0) {
		cpucycles();
		return 3;
	}
	if (cpucycles_select(NULL) != 0)
		return 6;
	return recovered();
}

/* The selection holds for every thread: for those that may read the TSC, that
 * may not, and that have counted with it. */
struct other {
	pthread_barrier_t begin, go;
	int forbids, bad;
};

static void *other_thread(void *arg)
{
	struct other *o = arg;

	o->bad = counts(1000);
	if (o->forbids)
		o->bad |= forbid();
	pthread_barrier_wait(&o->begin);
	pthread_barrier_wait(&o->go);
	o->bad |= counts(1000);
	return NULL;
}

static int every_thread(void *arg)
{
	struct other o[2] = {{.forbids = 0}, {.forbids = 1}}, late;
	pthread_t id[2], last;
	int i, bad;

	(void)arg;
	cpucycles();
	if (has_core())
		return CANNOT;
	for (i = 0; i < 2; i++) {
		pthread_barrier_init(&o[i].begin, NULL, 2);
		pthread_barrier_init(&o[i].go, NULL, 2);
		if (pthread_create(&id[i], NULL, other_thread, &o[i]) != 0)
			return CANNOT;
		pthread_barrier_wait(&o[i].begin);
	}
	if (forbid() != 0)
		return CANNOT;
	bad = cpucycles_select(NULL) != 0;
	for (i = 0; i < 2; i++) {
		pthread_barrier_wait(&o[i].go);
		pthread_join(id[i], NULL);
		bad |= o[i].bad;
	}
	late = (struct other){.forbids = 0};
	pthread_barrier_init(&late.begin, NULL, 1);
	pthread_barrier_init(&late.go, NULL, 1);
	if (pthread_create(&last, NULL, other_thread, &late) != 0)
		return CANNOT;
	pthread_join(last, NULL);
	return bad | late.bad ? bad | late.bad : recovered();
}

static int allowed_again(void *arg)
{
	(void)arg;
	if (forbid() != 0)
		return CANNOT;
	if (counts(1000) != 0)
		return 2;
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	if (cpucycles_select(NULL) != 0 || counts(1000) != 0)
		return 3;
	return !strcmp(cpucycles_kind(), "os");
}

/* Nothing that measures may fault: it returns 0 where it cannot. */
static int observe_after(void *arg)
{
	(void)arg;
	cpucycles();
	if (has_core() || forbid() != 0)
		return CANNOT;
	return cpucycles_observepersecond() != 0;
}

int main(void)
{
	static const char why[] = "prctl(PR_SET_TSC) does not work here, or "
				  "counts are the core's own";
#ifdef HAVE_LINUX_FILTER_H
	static unsigned denied = SECCOMP_RET_ERRNO | EPERM;
	static unsigned trapped = SECCOMP_RET_TRAP;
#else
	static unsigned denied, trapped;
#endif
	int status;

	if (SANITIZED)
		skip_all("sanitizers read the clock where nobody expects it");
	point("RDTSC forbidden before the first call: a clock by system calls",
	      before_first, NULL, why);
	point("forbidden, and prctl denied", unasked, &denied, why);
	point("forbidden, and prctl answered by SIGSYS", unasked, &trapped,
	      why);
	point("forbidden, and a reader of it asked for by name", by_name, NULL,
	      why);
	point("forbidden after the selection: cpucycles_select(NULL) recovers",
	      after_selection, NULL, why);
	status = in_child(no_recovery, NULL);
	if (status == CANNOT)
		skip("%s", why);
	else
		ok(status == KILLED + SIGSEGV,
		   "and without it the next count faults (%d)", status);
	point("cpucycles_select(NULL) recovers after that fault, too",
	      after_fault, NULL, why);
	point("and every thread then counts: one that may read it, one that "
	      "may not, a new one",
	      every_thread, NULL, why);
	point("forbidden after the selection: no rate is observed, nothing "
	      "faults",
	      observe_after, NULL, why);
	point("allowed again: cpucycles_select(NULL) finds the counter",
	      allowed_again, NULL, why);
	return done_testing();
}
#else
int main(void)
{
	skip_all("no counter can be forbidden by prctl(PR_SET_TSC) here");
}
#endif
