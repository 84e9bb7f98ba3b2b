/* SPDX-License-Identifier: 0BSD */
/* Prints the disturbances of timings, with advice, as text and as JSON. */
#ifndef CPUC_TOOLS_NOISE_TEXT_H
#define CPUC_TOOLS_NOISE_TEXT_H

struct request;

/* The reports: text, and a member of the JSON object. Return TOOL_FINDING if
 * the verdict is worse than 1%, or most medians would be of what little of the
 * time is left. */
int noise_print(const struct request *r);
int noise_json(void);

#endif
