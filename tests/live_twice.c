/* SPDX-License-Identifier: 0BSD */
/* A library that is loaded and unloaded at run time, in a program that has a
 * static copy of its own, whose symbols are exported to it or not. */
#include "faults/faults.h"

#include <dlfcn.h>

#define TIMES 100
#define THREADS 4

static char path[1024];

/* The loaded library's. */
static void *handle;
static long long (**loaded)(void);
static const char *(*loaded_kind)(void);
static int (*loaded_select)(const char *);
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
	*(void **)&loaded_select = dlsym(handle, "cpucycles_select");
	*(void **)&loaded_interruptions =
		dlsym(handle, "cpucycles_interruptions");
	return loaded && loaded_kind && loaded_select && loaded_interruptions
		       ? 0
		       : -1;
}

static int loaded_counts(int calls)
{
	return counts_by(loaded, calls) != 0 || !strcmp(loaded_kind(), "zero");
}

static void nothing(int sig)
{
	(void)sig;
}

static int of_both(void)
{
	return counts(1000) | loaded_counts(1000);
}

/* Both copies select and count, one after the other, and leave no handler. */
static int in_turn(void)
{
	struct sigaction now;
	int bad;

	if (load() != 0)
		return 9;
	signal(SIGSEGV, nothing);
	bad = of_both();
	bad |= cpucycles_select(NULL) != 0 || loaded_select(NULL) != 0;
	bad |= in_child(of_both) | of_both();
	sigaction(SIGSEGV, NULL, &now);
	return bad ? bad : now.sa_handler != nothing;
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

static volatile int stop;

static void *counting(void *bad)
{
	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
		*(int *)bad |= loaded_counts(1000);
	return NULL;
}

/* Loaded and unloaded with threads alive that have counted by it, and that end
 * when it would be gone; then the static copy's first call. */
static int again_and_again(void)
{
	pthread_t id[THREADS];
	int bad[THREADS] = {0}, i, before, sum = 0;

	if (load() != 0)
		return 9;
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&id[i], NULL, counting, &bad[i]) != 0)
			return CANNOT;
	sum = loaded_counts(1000);
	before = mappings();
	for (i = 0; i < TIMES; i++) {
		if (dlclose(handle) != 0 || load() != 0)
			return 9;
		sum |= loaded_counts(10);
	}
	dlclose(handle);
	if (mappings() > before + 8)
		sum |= 32;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		sum |= bad[i];
	}
	return sum | counts(1000);
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
	point("a static copy counts, then a loaded one, and so do children; "
	      "handlers are restored",
	      in_turn, "");
	point("in turn, neither interrupts the other", alternating,
	      "one variable for two is not promised");
	point("loaded and unloaded 100 times while threads count by it, and "
	      "then end",
	      again_and_again, "no threads");
	return done_testing();
}
