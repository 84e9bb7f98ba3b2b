/* SPDX-License-Identifier: 0BSD */
/* default-threadcounts: this thread's core cycles and instructions, user and
 * kernel, on cores of any type: as true as a register, at the price of a system
 * call. thread_selfcounts() exists from macOS 12.4 on, in no header. */
#include <config.h>
#include <dlfcn.h>
#include <errno.h>
#include "../slot.h"

/* Asks for both: xnu, bsd/sys/resource_private.h. */
#define THSC_CPI 1

typedef int selfcounts(int type, void *counts, size_t size);

static selfcounts *default_threadcounts_found;

static selfcounts *default_threadcounts_get(void)
{
	return __atomic_load_n(&default_threadcounts_found, __ATOMIC_ACQUIRE);
}

struct counts {
	uint64_t instructions, cycles; /* as the kernel stores them */
};

/* Zeros if it fails. */
static struct counts default_threadcounts_now(void)
{
	struct counts now = {0, 0};
	int saved = errno;

	if (default_threadcounts_get()(THSC_CPI, &now, sizeof now) != 0)
		now = (struct counts){0, 0};
	errno = saved;
	return now;
}

static long long default_threadcounts_read(void)
{
	/* This thread does not see it yet. */
	if (__builtin_expect(default_threadcounts_get() == NULL, 0))
		return cpuc_first();
	return (long long)default_threadcounts_now().cycles;
}

static long long default_threadcounts_instructions(void)
{
	return (long long)default_threadcounts_now().instructions;
}

static void default_threadcounts_pair(long long pair[2])
{
	struct counts now = default_threadcounts_now();

	pair[0] = (long long)now.cycles;
	pair[1] = (long long)now.instructions;
}

static int default_threadcounts_open(struct cpuc_slot *slot)
{
	selfcounts *get = default_threadcounts_get();
	struct counts now;

	/* Among loaded libraries: this may be a signal handler. */
	if (get == NULL)
		*(void **)&get = dlsym(RTLD_DEFAULT, "thread_selfcounts");
	/* For the acquire in any thread's read. */
	__atomic_store_n(&default_threadcounts_found, get, __ATOMIC_RELEASE);
	if (get == NULL)
		return cpuc_reason(slot,
				   "no thread_selfcounts here (macOS before "
				   "12.4)");
	now = default_threadcounts_now();
	if (now.cycles != 0 && now.instructions != 0)
		return 0;
	return cpuc_reason(
		slot, "thread_selfcounts returns zeros (virtual machine?)");
}

CPUC_DEFINE_COUNTER(default_threadcounts, "default-threadcounts",
		    .kind = CPUC_CORE_KERNEL, .open = default_threadcounts_open)

const struct cpuc_counter cpuc_instructions_default_threadcounts = {
	.name = "default-threadcounts",
	.kind = CPUC_CORE_KERNEL,
	.read = default_threadcounts_instructions,
	.open = default_threadcounts_open,
	.pair = default_threadcounts_pair,
};
