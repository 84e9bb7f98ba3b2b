/* SPDX-License-Identifier: 0BSD */
/* The libraries that are measured, side by side in one process: this one,
 * linked and loaded, and others that count cycles. */
#ifndef SUBJECT_H
#define SUBJECT_H

#include "cpucycles.h"

struct subject {
	char name[128];
	long long (**count)(void);       /* as a program's call finds it */
	int (*select)(const char *name); /* NULL: of others, what they choose */
};

/* The library that this program is linked with. */
extern struct subject subject_own;

/* The same as a shared library, which BENCH_SHARED names. NULL: there is none.
 */
struct subject *subject_shared(void);

/* Others: the library with the original's interface that BENCH_PEER names. The
 * array's end has no count. Each has made its first call. */
struct subject *subject_peers(void);

/* A library with the original's interface, and whether it could be loaded; a
 * message says why not. */
int subject_load(struct subject *s, const char *path);

/* The next usable counter that counts, from index *i on, selected in the
 * linked library: 1, or 0 when there is none any more. */
int subject_next(unsigned *i, struct cpucycles_counter *c);

#endif
