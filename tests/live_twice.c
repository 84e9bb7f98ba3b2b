/* SPDX-License-Identifier: 0BSD */
/* A library that is loaded and unloaded at run time, in a program that has a
 * static copy of its own, whose symbols are exported to it or not. */
#include "faults/faults.h"

#include <dlfcn.h>

#define TIMES 100
#define THREADS 5

static char path[1024];

/* The loaded library's. */
static void *handle;
static long long (**loaded)(void);
static const char *(*loaded_kind)(void);
static long long (*loaded_interruptions)(void);

static int load(void)
{
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle == NULL) {
		diag("%s", dlerror());
		return -1;
	}
	*(void **)&loaded = dlsym(handle, "cpucycles");
	*(void **)&loaded_kind = dlsym(handle, "cpucycles_kind");
	*(void **)&loaded_interruptions =
		dlsym(handle, "cpucycles_interruptions");
	return loaded && loaded_kind && loaded_interruptions ? 0 : -1;
}

static int loaded_counts(int calls)
{
	return counts_by(loaded, calls) != 0 || !strcmp(loaded_kind(), "zero");
}

static int of_both(void)
{
	return counts(1000) | loaded_counts(1000);
}

/* Neither takes the other's calls for interruptions of the thread: that would
 * be one a turn, and true ones are far rarer. A program that exports the
 * variable has one for both copies: then counts of both mix. */
static int alternating(void)
{
	long long mine, other;
	int i;

	if (load() != 0)
		return 9;
	if (dlsym(RTLD_DEFAULT, "cpucycles") == (void *)&cpucycles)
		return CANNOT;
	counts(10);
	loaded_counts(10);
	mine = cpucycles_interruptions();
	other = loaded_interruptions();
	for (i = 0; i < 10000; i++) {
		cpucycles();
		(*loaded)();
		cpucycles_interruptions();
		loaded_interruptions();
	}
	return cpucycles_interruptions() - mine > 5000 ||
	       loaded_interruptions() - other > 5000;
}

static int entered, stop;

static int reloads(void)
{
	int before = mappings(), i, bad = 0;

	for (i = 0; i < TIMES; i++) {
		if (dlclose(handle) != 0 || load() != 0)
			return 9;
		bad |= loaded_counts(10);
	}
	dlclose(handle);
	return bad | (mappings() > before + 8);
}

/* The first of the threads loads and unloads it while the others count by it,
 * and end when it would be gone. */
static int beside(void)
{
	int bad = loaded_counts(1000);

	meet(THREADS);
	if (__atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED) == 0) {
		bad |= reloads();
		__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	}
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		bad |= loaded_counts(1000);
	return bad;
}

/* Then the static copy makes its first call, and children count by both. */
static int again_and_again(void)
{
	if (load() != 0)
		return 9;
	return in_threads(THREADS, NULL, beside) | of_both() |
	       in_child(of_both) | of_both();
}

int main(void)
{
	const char *build = getenv("top_builddir");

	snprintf(path, sizeof path, "%s/.libs/libcpucycles.so.1",
		 build ? build : ".");
	if (SANITIZED)
		skip_all("a sanitizer allows one copy of a variable");
	if (access(path, R_OK) != 0)
		skip_all("there is no %s", path);
	point("in turn, neither interrupts the other", alternating,
	      "one variable for two is not promised");
	point("loaded and unloaded 100 times while threads count by it, and "
	      "then end; a static copy counts, and so do children",
	      again_and_again, "no threads");
	return done_testing();
}
