/* SPDX-License-Identifier: 0BSD */
/* Prints the disturbances of timings, with advice, as text and as JSON. */
#ifndef CPUC_TOOLS_NOISE_TEXT_H
#define CPUC_TOOLS_NOISE_TEXT_H

#include <stdio.h>
#include "noise.h"

struct request;

extern const char *const noise_names[NOISE_ITEMS];

/* Advice; NULL: none is needed. */
const char *noise_hint(const struct noise *n, enum noise_item item);

/* The exit status: TOOL_FINDING if the verdict is worse than 1%, or most
 * medians would be of what little of the time is left. */
int noise_status(const struct noise *n);

/* A line for each item. */
void noise_text(FILE *f, const struct noise *n);

/* The reports: text, and a member of the JSON object. Return noise_status(). */
int noise_print(const struct request *r);
int noise_json(void);

#endif
