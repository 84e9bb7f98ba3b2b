/* SPDX-License-Identifier: 0BSD */
/* What disturbs timings, in lines of text, and what would help. */
#ifndef CPUC_TOOLS_NOISE_TEXT_H
#define CPUC_TOOLS_NOISE_TEXT_H

#include <stdio.h>
#include "noise.h"
#include "report.h"

extern const char *const noise_names[NOISE_ITEMS];

/* What would help, or NULL. */
const char *noise_hint(const struct noise *n, enum noise_item item);

/* The exit status: TOOL_FINDING if the verdict is worse than 1%. */
int noise_status(const struct noise *n);

/* A line for each item. */
void noise_text(FILE *f, const struct noise *n);

int noise_print(const struct request *r);

#endif
