/* SPDX-License-Identifier: 0BSD */
/* The kernel's own counts of a thread: macOS's thread_selfcounts(), which no
 * header of the system declares. */
#include <config.h>
#include "thread_counts.h"
#if HAVE_COUNTER_DEFAULT_THREADCOUNTS || defined CPUC_PRETENDED_MACOS
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

/* Gives struct cpuc_thread_counts: xnu, bsd/sys/resource_private.h. */
#define THSC_CPI 1

static int (*thread_counts_of)(int type, void *counts, size_t size);

struct cpuc_thread_counts cpuc_thread_counts(void)
{
	struct cpuc_thread_counts counts = {0, 0};
	int saved = errno;

	if (thread_counts_of(THSC_CPI, &counts, sizeof counts) != 0)
		counts = (struct cpuc_thread_counts){0, 0};
	errno = saved;
	return counts;
}

const char *cpuc_thread_counts_find(void)
{
	struct cpuc_thread_counts counts;

	/* A first call in a signal handler comes here, too; the name is looked
	 * up once, among the loaded libraries. */
	if (thread_counts_of == NULL)
		*(void **)&thread_counts_of =
			dlsym(RTLD_DEFAULT, "thread_selfcounts");
	if (thread_counts_of == NULL)
		return "no thread_selfcounts here (macOS before 12.4)";
	if (thread_counts_of(THSC_CPI, &counts, sizeof counts) != 0)
		return "thread_selfcounts fails";
	if (counts.cycles == 0 || counts.instructions == 0)
		return "thread_selfcounts returns zeros (virtual machine?)";
	return NULL;
}

#endif
