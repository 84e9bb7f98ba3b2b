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

struct subject subject_own = {"linked", &cpucycles, cpucycles_select};

/* ISO C has no cast from an object's pointer to a function's. */
static void find(void *library, const char *name, void *pointer)
{
	void *p = dlsym(library, name);

	memcpy(pointer, &p, sizeof p);
}

int subject_load(struct subject *s, const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (library == NULL) {
		fprintf(stderr, "bench: %s\n", dlerror());
		return 0;
	}
	find(library, "cpucycles", &s->count);
	find(library, "cpucycles_select", &s->select);
	if (s->count == NULL)
		fprintf(stderr, "bench: %s has no cpucycles\n", path);
	return s->count != NULL;
}

struct subject *subject_shared(void)
{
	static struct subject s = {"shared", NULL, NULL};
	const char *path = getenv("BENCH_SHARED");

	if (s.count == NULL && path != NULL && !subject_load(&s, path))
		return NULL;
	return s.count && s.select ? &s : NULL;
}

/* A peer's name with its version and what it counts with. */
static int load_peer(struct subject *s, const char *path)
{
	const char *(*implementation)(void);
	const char *(*version)(void);
	void *library;

	if (!subject_load(s, path))
		return 0;
	s->select = NULL;
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	find(library, "cpucycles_implementation", &implementation);
	find(library, "cpucycles_version", &version);
	snprintf(s->name, sizeof s->name, "peer %s, %s",
		 version ? version() : "",
		 implementation ? implementation() : "");
	return 1;
}

struct subject *subject_peers(void)
{
	static struct subject peers[2];
	const char *path = getenv("BENCH_PEER");
	int n = 0;

	if (peers[0].count != NULL)
		return peers;
	if (path != NULL && path[0] != '\0')
		n += load_peer(&peers[n], path);
	peers[n].count = NULL;
	return peers;
}

int subject_next(unsigned *i, struct cpucycles_counter *c)
{
	while (cpucycles_counter((*i)++, c, sizeof *c) == 0)
		if (c->usable && strcmp(c->kind, "zero") != 0 &&
		    cpucycles_select(c->name) == 0)
			return 1;
	return 0;
}
