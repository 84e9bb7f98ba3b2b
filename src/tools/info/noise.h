/* SPDX-License-Identifier: 0BSD */
/* Measures what disturbs timings on this machine now, and prints it, with
 * advice. */
#ifndef CPUC_TOOLS_NOISE_H
#define CPUC_TOOLS_NOISE_H

/* Both take a second or two; noise_json() prints a member of an object. They
 * return TOOL_FINDING if the verdict is worse than 1%, or most medians would be
 * of what little of the time is left. */
int noise_print(void);
int noise_json(void);

#endif
