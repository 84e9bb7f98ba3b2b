/* SPDX-License-Identifier: 0BSD */
/* System calls that a sandbox denies, by an error or by a signal, before the
 * first call: the selected counter, and the reasons of the others. */
#include "faults/faults.h"

#ifdef HAVE_LINUX_FILTER_H
#include <sys/stat.h>

#define ERROR (SECCOMP_RET_ERRNO | EPERM)
#define TRAP SECCOMP_RET_TRAP

enum then {
	SAME, /* the selection is the same as without the fault, unless
	       * perf events are denied and it was a counter of these */
	NO_CALIBRATION,
	OS,  /* a system clock: nothing can be tried */
	DIES /* as of any other such call */
};

/* The outcome of each denial. The reason of `counter`, on machines that have
 * it, contains `reason`. */
static const struct row {
	const char *call;
	unsigned action;
	enum then then;
	const char *counter, *reason;
} table[] = {
	{"perf_event_open", ERROR, SAME, "default-perfevent", "perf_event_"},
	{"perf_event_open", TRAP, SAME, "default-perfevent", "SIGSYS"},
	{"ioctl", ERROR, SAME, "default-perfevent", "perf_event_"},
	{"open", ERROR, SAME, "", ""},
	{"open", TRAP, SAME, "", ""},
	{"mmap", ERROR, SAME, "", ""},
	{"mmap", TRAP, SAME, "", ""},
	{"prctl", ERROR, SAME, "", ""},
	{"prctl", TRAP, SAME, "", ""},
	{"getrusage", ERROR, SAME, "", ""},
	{"getrusage", TRAP, NO_CALIBRATION, "", ""},
	{"rt_sigaction", ERROR, OS, "default-perfevent", "SIGSYS"},
	{"rt_sigaction", TRAP, DIES, "", ""},
	{"rt_sigprocmask", ERROR, SAME, "", ""},
};

static const struct row *denied; /* in the child */
static struct seen *seen, *base;

/* Whether a count goes on while the thread sleeps. */
static int sleeps(void)
{
	long long a = cpucycles();

	usleep(50000);
	return cpucycles() - a > cpucycles_persecond() / 40;
}

static int find(void)
{
	struct cpucycles_counter c;
	int bad;

	unsetenv("cpucyclesimplementation");
	errno = 4711;
	bad = counts(1000);
	/* After this a calibrated count asks the system. */
	usleep(1000);
	cpucycles();
	if (cpucycles_interruptions() < -1 || errno != 4711)
		bad = 7;
	look(seen);
	if (cpucycles_interruptions() >= 0 && denied != NULL &&
	    !strcmp(denied->call, "mmap"))
		bad = 6;
	if (seen->hz < 1000000 || seen->hz > 100000000000)
		bad = 4;
	/* It leaves out the time for which the thread does not run, or says
	 * that it does not. */
	if (cpucycles_counterbyname(NULL, &c, sizeof c) == 0 &&
	    c.kind_id == CPUCYCLES_CALIBRATED &&
	    (sleeps() == c.per_thread ||
	     (c.per_thread && denied != NULL && !strcmp(denied->call, "mmap"))))
		bad = 5;
	return bad;
}

static int try(void)
{
	return deny_named(denied->call, denied->action) != 0 ? CANNOT : find();
}

/* Whether no core has a PMU: then no event is opened. */
static int no_pmu(void)
{
	const struct cpucycles_counter *c =
		seen_counter(base, "default-perfevent");

	return c != NULL && strstr(c->reason, "no PMU is visible") != NULL;
}

/* Whether the system's list says so: then none is asked for, either. */
static int none_listed(void)
{
	struct stat st;

	return no_pmu() &&
	       stat("/sys/bus/event_source/devices/software", &st) == 0;
}

static int as_told(const struct row *row, int status)
{
	const struct cpucycles_counter *c = seen_counter(seen, row->counter);
	const char *reason = row->reason;

	/* Where nothing is denied, as there is nothing to ask for. */
	if (row->then == SAME &&
	    (!strcmp(row->call, "ioctl") ? no_pmu() : none_listed()))
		reason = "no PMU is visible";
	if (row->then == DIES)
		return status == KILLED + SIGSYS;
	if (status != 0 || (c != NULL && !strstr(c->reason, reason)))
		return 0;
	if (row->then == NO_CALIBRATION)
		return strcmp(seen->kind, "calibrated") != 0;
	if (row->then == OS)
		return !strcmp(seen->kind, "os");
	if (!strcmp(base->kind, "core"))
		return strcmp(seen->kind, "zero") != 0;
	return as_good(seen, base);
}

static int find_base(void)
{
	int status = in_child(find);

	*base = *seen;
	return status;
}

/* A calibration may fail on a busy machine, which no fault of ours explains. */
#define TRIES 5

static void check(const struct row *row)
{
	int i, status = 0, good = 0;

	if (SANITIZED &&
	    (!strcmp(row->call, "mmap") || !strcmp(row->call, "open"))) {
		skip("%s denied: sanitizers need it", row->call);
		return;
	}
	denied = row;
	for (i = 0; i < TRIES && !good; i++) {
		if (i > 0)
			find_base();
		memset(seen, 0, sizeof *seen);
		status = in_child(try);
		good = as_told(row, status);
	}
	ok(good, "%s denied with %s: %s (%d)", row->call,
	   row->action == TRAP ? "SIGSYS" : "EPERM",
	   row->then == DIES ? "the process dies" : seen->name, status);
}

/* Under a filter of what the library and this test call, all in systemd's
 * @system-service (systemd-analyze syscall-filter). Without a PMU nothing else
 * is needed. */
static int serve(void)
{
	static const long allowed[] = {
		NEW_CLOCK,        NEW_MMAP,           SYS_exit,
		SYS_exit_group,   SYS_getpid,         SYS_gettid,
		SYS_munmap,       SYS_rt_sigreturn,   SYS_sched_yield,
		SYS_close,        SYS_getdents64,     SYS_openat,
		SYS_read,         SYS_getrusage,      SYS_prctl,
		SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_madvise,
		SYS_uname};
	long long pair[2];

	if (filter(allowed, COUNT(allowed), SECCOMP_RET_ALLOW,
		   SECCOMP_RET_KILL_PROCESS) != 0)
		return CANNOT;
	if (counts(1000) != 0 || cpucycles_select(NULL) != 0)
		return 2;
	cpucycles_instructions();
	cpucycles_pair(&pair[0], &pair[1]);
	cpucycles_observepersecond();
	cpucycles_interruptions();
	look(seen);
	return counts(100000) != 0;
}

/* A calibrated count is what most machines without a PMU have, but a busy one
 * may not select it. */
static void check_service(void)
{
	int i, status = 0;

	if (SANITIZED || !none_listed()) {
		skip("the filter of a service: sanitizers, a PMU, or no list");
		return;
	}
	for (i = 0; i < TRIES && status == 0; i++) {
		status = in_child(serve);
		if (!strcmp(seen->kind, base->kind))
			break;
	}
	ok(status == 0, "under the filter of a service: %s (%d)", seen->name,
	   status);
}

/* The calls that cpucycles-internals(7) lists for counts, once the first one is
 * made: a child makes the last of them, too. A core counter of perf events
 * needs others. */
static const long listed[] = {SYS_exit_group, NEW_CLOCK,  SYS_rt_sigprocmask,
			      SYS_getrusage,  SYS_getcpu, SYS_getpid};
static size_t allowed_calls;

static int count_confined(void)
{
	/* By its own time: another clock may be a system call. */
	const long long end = cpucycles() + cpucycles_persecond() / 5;
	int bad = 0;

	if (filter(listed, allowed_calls, SECCOMP_RET_ALLOW,
		   SECCOMP_RET_KILL_PROCESS) != 0)
		return CANNOT;
	while (cpucycles() < end)
		bad |= counts(1000);
	return bad;
}

static void check_listed(void)
{
	struct cpucycles_counter c;
	unsigned i, n = 0, bad = 0;
	int status;

	if (SANITIZED) {
		skip("a filter of what cpucycles-internals(7) lists: a "
		     "sanitizer");
		return;
	}
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		if (c.kind_id == CPUCYCLES_CORE ||
		    c.kind_id == CPUCYCLES_ZERO ||
		    cpucycles_select(c.name) != 0)
			continue;
		cpucycles();
		allowed_calls = 2;
		if (c.kind_id == CPUCYCLES_CALIBRATED)
			allowed_calls = COUNT(listed);
		else if (c.kind_id == CPUCYCLES_REFERENCE && c.bits == 64)
			allowed_calls = 1;
		status = in_child(count_confined);
		if (status != 0)
			diag("%s: %d", c.name, status);
		n++;
		bad += status != 0;
	}
	ok(bad == 0,
	   "a filter of what cpucycles-internals(7) lists: %u counters go on",
	   n);
}

int main(void)
{
	int status;
	size_t i;

	seen = shared(2 * sizeof *seen);
	base = seen + 1;
	status = find_base();
	ok(status == 0, "nothing denied: %s (%d)", seen->name, status);
	if (in_child(emulated)) {
		skip("system calls cannot be filtered here");
		return done_testing();
	}
	for (i = 0; i < COUNT(table); i++)
		check(&table[i]);
	check_service();
	check_listed();
	return done_testing();
}
#else
SKIPPED_MAIN("system calls cannot be filtered here")
#endif
