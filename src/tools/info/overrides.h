/* SPDX-License-Identifier: 0BSD */
/* Which environment variables of the library are set, and what came of it. */
#ifndef CPUC_TOOLS_OVERRIDES_H
#define CPUC_TOOLS_OVERRIDES_H

#define OVERRIDES 2

struct override {
	const char *name;  /* of the variable */
	const char *value; /* NULL: not set */
	char why_not[256]; /* why it has no effect; "" when it has */
};

/* All of them: what names the counter comes first. `counter` is what --counter
 * named, or NULL. */
void overrides(struct override o[OVERRIDES], const char *counter);

#endif
