/* SPDX-License-Identifier: 0BSD */
/* The libraries that are measured, side by side in one process: this one,
 * linked and loaded, and another one with the original's interface.
 *
 * None is linked as a shared library: another one with the same symbols, loaded
 * later, would then find the first one's. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpucycles.h"

struct subject {
	char name[128];
	long long (**count)(void); /* as a program's call finds it */
	int (*select)(const char *name);
	const char *(*implementation)(void), *(*version)(void);
};

/* The library that this program is linked with. */
__attribute__((unused)) static struct subject subject_own = {
	"linked", &cpucycles, cpucycles_select, cpucycles_implementation,
	cpucycles_version};

/* ISO C has no cast from an object's pointer to a function's. */
static inline void subject_find(void *library, const char *name, void *pointer)
{
	void *p = dlsym(library, name);

	memcpy(pointer, &p, sizeof p);
}

/* Loads a library with the original's interface. False: it cannot be loaded; a
 * message says why. */
static inline bool subject_load(struct subject *s, const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		fprintf(stderr, "bench: %s\n", dlerror());
		return false;
	}
	subject_find(library, "cpucycles", &s->count);
	subject_find(library, "cpucycles_select", &s->select);
	subject_find(library, "cpucycles_implementation", &s->implementation);
	subject_find(library, "cpucycles_version", &s->version);
	if (s->count == NULL)
		fprintf(stderr, "bench: %s has no cpucycles\n", path);
	return s->count != NULL;
}

/* The same as a shared library, which BENCH_SHARED names, or NULL. */
static inline struct subject *subject_shared(void)
{
	static struct subject s = {.name = "shared"};
	const char *path = getenv("BENCH_SHARED");

	if (s.count == NULL && path != NULL)
		subject_load(&s, path);
	return s.count && s.select ? &s : NULL;
}

/* The library that BENCH_PEER names, or NULL. It has made its first call, and
 * selects for itself. */
static inline struct subject *subject_peer(void)
{
	static struct subject s;
	const char *path = getenv("BENCH_PEER");

	if (s.count == NULL && path != NULL && subject_load(&s, path))
		snprintf(s.name, sizeof s.name, "peer %s, %s",
			 s.version ? s.version() : "",
			 s.implementation ? s.implementation() : "");
	return s.count ? &s : NULL;
}

/* The next usable counter that counts, from index *i on, selected in the
 * linked library. False: there is none any more. */
static inline bool subject_next(unsigned *i, struct cpucycles_counter *c)
{
	while (cpucycles_counter((*i)++, c, sizeof *c) == 0)
		if (c->usable && strcmp(c->kind, "zero") != 0 &&
		    cpucycles_select(c->name) == 0)
			return true;
	return false;
}

#endif
