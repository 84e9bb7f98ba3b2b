/* SPDX-License-Identifier: 0BSD */
/* What the operating system says the CPU's frequency is. */
#ifndef CPUC_OSFREQ_H
#define CPUC_OSFREQ_H

#include <stdint.h>

/* The frequency in Hz by the first source that knows it, in the documented
 * order, and that source's name in *source (static storage; "unknown" with
 * 0). `root` is put before every path: "" on a real machine, a fake tree in
 * tests. Files alone: no environment, no measurement. Opens no descriptor
 * that stays, allocates nothing, uses little stack, leaves errno to the
 * caller to preserve. */
uint64_t cpuc_osfreq(const char *root, const char **source);

#endif
