/* SPDX-License-Identifier: 0BSD */
/* The libraries that are measured, side by side in one process: this one,
 * linked and loaded, and another one with the original's interface. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include <stdbool.h>
#include "cpucycles.h"

struct subject {
	char name[128];
	long long (**count)(void); /* as a program's call finds it */
	int (*select)(const char *name);
	const char *(*implementation)(void), *(*version)(void);
};

/* The library that this program is linked with. */
extern struct subject subject_own;

/* The same as a shared library, which BENCH_SHARED names, or NULL. */
struct subject *subject_shared(void);

/* The library that BENCH_PEER names, or NULL. It has made its first call, and
 * selects for itself. */
struct subject *subject_peer(void);

/* Loads a library with the original's interface. False: it cannot be loaded; a
 * message says why. */
bool subject_load(struct subject *s, const char *path);

/* The next usable counter that counts, from index *i on, selected in the
 * linked library. False: there is none any more. */
bool subject_next(unsigned *i, struct cpucycles_counter *c);

#endif
