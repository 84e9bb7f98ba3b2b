/* SPDX-License-Identifier: 0BSD */
/* default-threadcounts: this thread's core cycles and instructions as macOS's
 * kernel counts them, on cores of any type, by thread_selfcounts(): as true as
 * a register's, at the price of a system call. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_THREADCOUNTS || defined CPUC_PRETENDED_MACOS
#include <errno.h>
#include "../slot.h"
#include "../system/thread_counts.h"

static long long default_threadcounts_read(void)
{
	return (long long)cpuc_thread_counts().cycles;
}

static long long default_threadcounts_instructions(void)
{
	return (long long)cpuc_thread_counts().instructions;
}

static void default_threadcounts_pair(long long pair[2])
{
	struct cpuc_thread_counts counts = cpuc_thread_counts();

	pair[0] = (long long)counts.cycles;
	pair[1] = (long long)counts.instructions;
}

static int default_threadcounts_open(struct cpuc_slot *slot)
{
	const char *why = cpuc_thread_counts_find();

	if (why != NULL)
		cpuc_reason(slot, "%s", why);
	return why != NULL ? -ENOTSUP : 0;
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

#endif
