/* SPDX-License-Identifier: 0BSD */
/* Other systems than Linux, pretended: the lowest layer's files as they are
 * compiled there, on functions that answer as those systems' do. */
#include <config.h>
#include "tap.h"
#ifndef __linux__
SKIPPED_MAIN("Linux pretends to be others")
#else
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include "cpucycles.h"
#include "registry.h"
#include "faults/real.h"

#pragma push_macro("__linux__")
#undef __linux__

/* macOS: CLOCK_MONOTONIC is in microseconds. */
static clockid_t asked;

static int pretended_gettime(clockid_t clock, struct timespec *t)
{
	asked = clock;
	return clock_gettime(CLOCK_MONOTONIC, t);
}

#define __APPLE__ 1
#define clock_gettime pretended_gettime
#include "../src/system/os_clock.c"
#undef clock_gettime
#undef __APPLE__

/* The BSDs: no MADV_WIPEONFORK, whose number means something else. */
static int inherited;

static int minherit(void *p, size_t size, int how)
{
	inherited = how;
	return madvise(p, size, 18);
}

#undef MADV_WIPEONFORK
#define INHERIT_ZERO 3
#include "../src/thread/thread.c"
#undef INHERIT_ZERO

/* FreeBSD's sysctlbyname(3). */
static int mhz, has_tsc;

int sysctlbyname(const char *name, void *old, size_t *old_size,
		 const void *new_value, size_t new_size)
{
	uint64_t hz = UINT64_C(2995200000);

	(void)new_value;
	(void)new_size;
	if (strcmp(name, "hw.clockrate") == 0) {
		*old_size = sizeof mhz;
		memcpy(old, &mhz, sizeof mhz);
		return 0;
	}
	if (!has_tsc || strcmp(name, "machdep.tsc_freq") != 0)
		return -1;
	*old_size = sizeof hz;
	memcpy(old, &hz, sizeof hz);
	return 0;
}

#define HAVE_SYSCTLBYNAME 1
#include "../src/rate/stated_rate.c"
#undef HAVE_SYSCTLBYNAME

#pragma pop_macro("__linux__")

/* macOS takes a thread to be on its alternate stack until a handler returns. */
static char alternate[65536];
static int jumps, jumps_there;

static int on_alternate(void)
{
	char *volatile here = __builtin_frame_address(0);

	return here >= alternate && here < alternate + sizeof alternate;
}

#define siglongjmp(env, value) \
	(jumps++, jumps_there += on_alternate(), (siglongjmp)(env, value))

#pragma push_macro("SI_USER")
#undef SI_USER
#define SI_USER 0x10001
#include "../src/system/probe.c"
#pragma pop_macro("SI_USER")

/* macOS's counts of a thread, each call of which takes so many cycles. */
static enum counting { ADVANCING, FAILING, ABSENT } counting;
static uint64_t taken, thread_cycles, thread_instructions;

static int pretended_selfcounts(int type, void *counts, size_t size)
{
	uint64_t *to = counts;

	if (counting == FAILING || type != 1 || size != 16) {
		errno = EPERM;
		return -1;
	}
	thread_cycles += taken;
	thread_instructions = 3 * thread_cycles;
	to[0] = thread_instructions;
	to[1] = thread_cycles;
	return 0;
}

static void *pretended_dlsym(const char *name)
{
	int (*f)(int, void *, size_t) = pretended_selfcounts;
	void *p;

	if (counting == ABSENT || strcmp(name, "thread_selfcounts") != 0)
		return NULL;
	memcpy(&p, &f, sizeof p);
	return p;
}

#define dlsym(handle, name) ((void)(handle), pretended_dlsym(name))
#include "../src/counters/default_threadcounts.c"

/* In place of the registry's. */
extern const struct cpuc_counter cpuc_counter_default_monotonic,
	cpuc_counter_default_zero;
struct cpuc_slot cpuc_slots[] = {
	{.counter = &cpuc_counter_default_threadcounts},
	{.counter = &cpuc_counter_default_monotonic},
	{.counter = &cpuc_counter_default_zero},
};
const size_t cpuc_slot_count = 3;
struct cpuc_slot cpuc_instructions_slots[] = {
	{.counter = &cpuc_instructions_default_threadcounts},
};
const size_t cpuc_instructions_slot_count = 1;

#define NAME "default-threadcounts"

static void select_as(enum counting how, uint64_t call)
{
	counting = how;
	taken = call;
	default_threadcounts_found = NULL;
	cpucycles_select(NULL);
}

static void refused(enum counting how, const char *reason)
{
	struct cpucycles_counter c, i;
	long long pair[2];

	select_as(how, 100);
	cpucycles_counterbyname(NAME, &c, sizeof c);
	ok(!c.usable && strstr(c.reason, reason) != NULL, "refused: %s",
	   c.reason);
	ok(cpucycles_instructions() == -1 &&
		   cpucycles_instructionscounter(&i, sizeof i) == 0 &&
		   strstr(i.reason, reason) != NULL &&
		   cpucycles_pair(&pair[0], &pair[1]) == -1 &&
		   errno == ENOTSUP && pair[0] == -1 && pair[1] == -1,
	   "nor are instructions counted, nor both");
	ok(!strcmp(cpucycles_implementation(), "default-monotonic"),
	   "a clock is used instead");
}

static void check_counts(void)
{
	struct cpucycles_counter c;
	long long pair[2], a, n;

	refused(ABSENT, "12.4");
	refused(FAILING, "zeros");
	select_as(ADVANCING, 100);
	cpucycles_counterbyname(NULL, &c, sizeof c);
	ok(!strcmp(c.name, NAME) && c.kind_id == CPUCYCLES_CORE &&
		   c.per_thread && c.step == 100 && c.precision == 200,
	   "selected: %s, %s, step %lld, precision %lld", c.name, c.kind,
	   c.step, c.precision);
	a = cpucycles();
	n = cpucycles_instructions();
	cpucycles_pair(&pair[0], &pair[1]);
	ok(cpucycles() == a + 300 && n == 3 * (a + 100) && pair[0] == a + 200 &&
		   pair[1] == 3 * pair[0],
	   "it counts the thread's cycles and instructions, and both by one "
	   "call");
	default_threadcounts_found = NULL;
	cpuc_current = &cpuc_slots[1];
	a = (long long)thread_cycles;
	ok(cpucycles() > a, "a thread that sees neither yet makes the first "
			    "call");
	counting = FAILING;
	errno = 0;
	ok(cpucycles() == 0 && errno == 0, "a failure keeps errno");
	select_as(ADVANCING, 1000000000);
	ok(strcmp(cpucycles_implementation(), NAME) != 0,
	   "not selected where a clock is finer");
}

static void check_sysctl(void)
{
	struct cpuc_rate rate;

	mhz = 2400;
	rate = stated_by_calls();
	ok(rate.hz == UINT64_C(2400000000) &&
		   strstr(rate.source, "hw.clockrate"),
	   "FreeBSD's %s", rate.source);
	has_tsc = 1;
	rate = stated_by_calls();
	ok(rate.hz == UINT64_C(2995200000), "and %s before it", rate.source);
	has_tsc = mhz = 0;
	ok(stated_by_calls().hz == 0, "0 is no rate");
}

static void faults_here(void *unused)
{
	(void)unused;
	real_access();
}

static void on_fault(int sig)
{
	(void)sig;
}

static void check_probe(void)
{
	const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
	struct sigaction sa = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
	siginfo_t info = {.si_signo = SIGSEGV, .si_code = 0};
	stack_t now;
	int sig;

	sigemptyset(&sa.sa_mask);
	sigaction(SIGSEGV, &sa, NULL);
	sigaltstack(&stack, NULL);
	cpuc_probe_begin();
	sig = cpuc_probe(faults_here, NULL);
	cpuc_probe_end();
	ok(sig == SIGSEGV && jumps == 1, "a fault is caught");
#ifdef CPUC_GO_ON
	ok(jumps_there == 0, "and its handler left by a return");
#else
	skip("the place of the program counter in this CPU's contexts is "
	     "unknown");
#endif
	ok(sigaltstack(NULL, &now) == 0 && now.ss_sp == alternate &&
		   now.ss_flags == 0,
	   "the thread keeps its alternate stack, and is not on it");
	ok(probe_at_fault(&info), "si_code 0 of macOS is a fault");
	info.si_code = 0x10001;
	ok(!probe_at_fault(&info), "and a signal that was sent is none");
}

int main(void)
{
	ok(cpuc_process_prepare() == 0 && inherited == 3,
	   "minherit(INHERIT_ZERO) has memory wiped in children");
	check_probe();
	check_sysctl();
	check_counts();
	cpuc_os_clock_ns();
	ok(asked == CLOCK_MONOTONIC_RAW,
	   "macOS's fine clock is read, not the one of microseconds");
	return done_testing();
}
#endif
