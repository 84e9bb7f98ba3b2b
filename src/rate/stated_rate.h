/* SPDX-License-Identifier: 0BSD */
/* Cycles per second, and ticks of a time base, as the operating system states
 * them. */
#ifndef CPUC_STATED_RATE_H
#define CPUC_STATED_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct cpuc_rate {
	uint64_t hz;        /* 0: unknown */
	const char *source; /* a file or a call; static storage */
	bool of_core;       /* false: of a clock, or of this moment */
};

/* The CPU's rate by the first source that states it, in the order of
 * cpucycles(7); "unknown" if none does. `root` goes before every path: "" on a
 * real machine, a fake tree in tests. No environment, no measurement.
 * /etc/cpucyclespersecond counts as a statement about the core. Allocates
 * nothing, leaves no descriptor open, may change errno. */
struct cpuc_rate cpuc_stated_rate(const char *root);

/* Ticks per second of the time base, a clock outside the core: the device
 * tree's timebase-frequency (RISC-V), or `timebase` in /proc/cpuinfo (POWER).
 * 0: neither exists. */
uint64_t cpuc_stated_timebase(const char *root);

#endif
