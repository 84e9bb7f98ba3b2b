/* SPDX-License-Identifier: 0BSD */
/* Tells Helgrind what it cannot know of the engine: that its lock orders
 * threads, and which words are read without it. Linked into the tests by
 * tests/analysis/check, and no part of any other program. */
#include <pthread.h>
#include <stddef.h>
#include <valgrind/helgrind.h>

struct cpuc_caller;
struct cpuc_slot;

/* Weak: not every test has them. */
extern long long (*cpucycles)(void) __attribute__((weak));
extern const struct cpuc_slot *cpuc_current __attribute__((weak));
extern char __data_start[], _end[];

/* Stands for all that src/thread/lock.c orders. */
static int engine;

int I_WRAP_SONAME_FNNAME_ZU(NONE, cpuc_lock)(struct cpuc_caller *caller);
int I_WRAP_SONAME_FNNAME_ZU(NONE, cpuc_lock)(struct cpuc_caller *caller)
{
	OrigFn original;
	int err;

	VALGRIND_GET_ORIG_FN(original);
	CALL_FN_W_W(err, original, caller);
	if (err == 0)
		ANNOTATE_HAPPENS_AFTER(&engine);
	return err;
}

void I_WRAP_SONAME_FNNAME_ZU(NONE, cpuc_unlock)(struct cpuc_caller *caller);
void I_WRAP_SONAME_FNNAME_ZU(NONE, cpuc_unlock)(struct cpuc_caller *caller)
{
	OrigFn original;

	VALGRIND_GET_ORIG_FN(original);
	ANNOTATE_HAPPENS_BEFORE(&engine);
	CALL_FN_v_W(original, caller);
}

/* The two words that calls read without the lock, published with release
 * order: src/slot.c copes with seeing one and not yet the other. */
static void published(void)
{
	if (&cpucycles != NULL)
		VALGRIND_HG_DISABLE_CHECKING(&cpucycles, sizeof cpucycles);
	if (&cpuc_current != NULL)
		VALGRIND_HG_DISABLE_CHECKING(&cpuc_current,
					     sizeof cpuc_current);
}

/* All that the parent's threads did before a fork comes before all that the
 * child does; Helgrind cannot learn that from threads that the child lacks. */
static void forked(void)
{
	VALGRIND_HG_CLEAN_MEMORY(__data_start, _end - __data_start);
	published();
}

__attribute__((constructor)) static void begin(void)
{
	published();
	pthread_atfork(NULL, NULL, forked);
}
