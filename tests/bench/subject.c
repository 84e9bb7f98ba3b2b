/* SPDX-License-Identifier: 0BSD */
/* The libraries that are measured, side by side in one process.
 *
 * None is linked as a shared library: another one with the same symbols, loaded
 * later, would then find the first one's. */
#include <config.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "subject.h"

struct subject subject_own = {"linked", &cpucycles, cpucycles_select,
			      cpucycles_implementation, cpucycles_version};

/* ISO C has no cast from an object's pointer to a function's. */
static void find(void *library, const char *name, void *pointer)
{
	void *p = dlsym(library, name);

	memcpy(pointer, &p, sizeof p);
}

bool subject_load(struct subject *s, const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		fprintf(stderr, "bench: %s\n", dlerror());
		return false;
	}
	find(library, "cpucycles", &s->count);
	find(library, "cpucycles_select", &s->select);
	find(library, "cpucycles_implementation", &s->implementation);
	find(library, "cpucycles_version", &s->version);
	if (s->count == NULL)
		fprintf(stderr, "bench: %s has no cpucycles\n", path);
	return s->count != NULL;
}

struct subject *subject_shared(void)
{
	static struct subject s = {.name = "shared"};
	const char *path = getenv("BENCH_SHARED");

	if (s.count == NULL && path != NULL)
		subject_load(&s, path);
	return s.count && s.select ? &s : NULL;
}

struct subject *subject_peer(void)
{
	static struct subject s;
	const char *path = getenv("BENCH_PEER");

	if (s.count == NULL && path != NULL && subject_load(&s, path))
		snprintf(s.name, sizeof s.name, "peer %s, %s",
			 s.version ? s.version() : "",
			 s.implementation ? s.implementation() : "");
	return s.count ? &s : NULL;
}

bool subject_next(unsigned *i, struct cpucycles_counter *c)
{
	while (cpucycles_counter((*i)++, c, sizeof *c) == 0)
		if (c->usable && strcmp(c->kind, "zero") != 0 &&
		    cpucycles_select(c->name) == 0)
			return true;
	return false;
}
