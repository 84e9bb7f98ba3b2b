/* SPDX-License-Identifier: 0BSD */
/* default-threadcounts: this thread's core cycles and instructions, user and
 * kernel, as macOS's kernel counts them, on cores of any type: as true as a
 * register's, at the price of a system call. That is thread_selfcounts(), from
 * macOS 12.4 on, which no header of the system declares. */
#include <config.h>
#include <dlfcn.h>
#include <errno.h>
#include "../slot.h"

/* Gives both: xnu, bsd/sys/resource_private.h. */
#define THSC_CPI 1

static int (*default_threadcounts_get)(int type, void *counts, size_t size);

struct counts {
	uint64_t instructions, cycles; /* as the kernel stores them */
};

/* Zeros if it fails. */
static struct counts default_threadcounts_now(void)
{
	struct counts now = {0, 0};
	int saved = errno;

	if (default_threadcounts_get(THSC_CPI, &now, sizeof now) != 0)
		now = (struct counts){0, 0};
	errno = saved;
	return now;
}

static long long default_threadcounts_read(void)
{
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
	struct counts now;

	/* A first call in a signal handler comes here, too; the name is looked
	 * up once, among the loaded libraries. */
	if (default_threadcounts_get == NULL)
		*(void **)&default_threadcounts_get =
			dlsym(RTLD_DEFAULT, "thread_selfcounts");
	if (default_threadcounts_get == NULL)
		return cpuc_reason(slot,
				   "no thread_selfcounts here (macOS before "
				   "12.4)");
	now = default_threadcounts_now();
	if (now.cycles != 0 && now.instructions != 0)
		return 0;
	return cpuc_reason(
		slot, "thread_selfcounts returns zeros (virtual machine?)");
}

const struct cpuc_counter cpuc_counter_default_threadcounts = {
	.name = "default-threadcounts",
	.kind = CPUC_CORE_KERNEL,
	.read = default_threadcounts_read,
	.open = default_threadcounts_open,
};

const struct cpuc_counter cpuc_instructions_default_threadcounts = {
	.name = "default-threadcounts",
	.kind = CPUC_CORE_KERNEL,
	.read = default_threadcounts_instructions,
	.open = default_threadcounts_open,
	.pair = default_threadcounts_pair,
};
