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
#include <string.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <time.h>
#include <unistd.h>
#include "cpucycles.h"
#include "registry.h"

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
#include "../src/thread/marks.c"
#undef INHERIT_ZERO

/* FreeBSD's sysctlbyname(3): numbers of either width. */
static bool has_tsc;

int sysctlbyname(const char *name, void *old, size_t *old_size,
		 const void *new_value, size_t new_size)
{
	const uint32_t mhz = 2400;
	const uint64_t hz = UINT64_C(2995200000);
	const bool wide = strcmp(name, "machdep.tsc_freq") == 0;

	(void)new_value;
	(void)new_size;
	if (wide ? !has_tsc : strcmp(name, "hw.clockrate") != 0)
		return -1;
	*old_size = wide ? sizeof hz : sizeof mhz;
	memcpy(old, wide ? (const void *)&hz : &mhz, *old_size);
	return 0;
}

#define HAVE_SYSCTLBYNAME 1
#include "../src/rate/stated_rate.c"
#undef HAVE_SYSCTLBYNAME

#pragma pop_macro("__linux__")

#pragma push_macro("SI_USER")
#undef SI_USER
#define SI_USER 0x10001
#include "../src/system/probe.c"

static void check_probe(void)
{
	const siginfo_t fault = {.si_code = 0}, sent = {.si_code = SI_USER};

	ok(probe_at_fault(&fault) && !probe_at_fault(&sent),
	   "si_code 0 of macOS is a fault, and what is sent is none");
}

#pragma pop_macro("SI_USER")

/* macOS's counts of a thread, each call of which takes 100 cycles. */
static enum counting { ADVANCING, FAILING, ABSENT } counting;
static uint64_t thread_cycles;

static int pretended_selfcounts(int type, void *counts, size_t size)
{
	uint64_t *to = counts;

	if (counting == FAILING || type != 1 || size != 16) {
		errno = EPERM;
		return -1;
	}
	thread_cycles += 100;
	to[0] = 3 * thread_cycles;
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
extern const struct cpuc_counter cpuc_counter_default_monotonic;
struct cpuc_slot cpuc_slots[] = {
	{.counter = &cpuc_counter_default_threadcounts},
	{.counter = &cpuc_counter_default_monotonic},
};
const size_t cpuc_slot_count = 2;
struct cpuc_slot cpuc_instructions_slots[] = {
	{.counter = &cpuc_instructions_default_threadcounts},
};
const size_t cpuc_instructions_slot_count = 1;

static void refused(enum counting how, const char *reason)
{
	struct cpuc_slot *slot = &cpuc_slots[0];

	counting = how;
	default_threadcounts_found = NULL;
	ok(default_threadcounts_open(slot) < 0 &&
		   strstr(slot->trial.reason, reason) != NULL,
	   "refused: %s", slot->trial.reason);
}

static void check_counts(void)
{
	long long pair[2], a, n;

	refused(ABSENT, "12.4");
	refused(FAILING, "zeros");
	counting = ADVANCING;
	cpucycles_instructions();
	a = cpucycles();
	n = cpucycles_instructions();
	cpucycles_pair(&pair[0], &pair[1]);
	ok(cpucycles() == a + 300 && n == 3 * (a + 100) && pair[0] == a + 200 &&
		   pair[1] == 3 * pair[0],
	   "%s: the thread's cycles and instructions, and both by one call",
	   cpucycles_implementation());
	default_threadcounts_found = NULL;
	cpuc_current = &cpuc_slots[1];
	ok(cpucycles() > a, "a thread that does not see it yet makes the first "
			    "call");
	counting = FAILING;
	errno = 0;
	ok(cpucycles() == 0 && errno == 0, "a failure keeps errno");
}

static void check_sysctl(void)
{
	struct cpuc_rate mhz = stated_by_calls(), hz;

	has_tsc = true;
	hz = stated_by_calls();
	ok(mhz.hz == UINT64_C(2400000000) && hz.hz == UINT64_C(2995200000),
	   "FreeBSD's %s, and %s before it", mhz.source, hz.source);
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
