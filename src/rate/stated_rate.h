/* SPDX-License-Identifier: 0BSD */
/* The rates of the CPU and of its time base, as the system states them. */
#ifndef CPUC_STATED_RATE_H
#define CPUC_STATED_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct cpuc_rate {
	uint64_t hz;        /* 0: unknown */
	const char *source; /* a file or a call; static storage */
	bool of_core;       /* false: a clock's, or the core's at this moment */
};

/* The CPU's rate from the first source that states one, in the order of
 * cpucycles(7). A core's stated rate that contradicts the measured core_hz, if
 * not 0, is passed over, but not /etc/cpucyclespersecond. May change errno. */
struct cpuc_rate cpuc_stated_rate(uint64_t core_hz);

/* Whether a core of this stated rate may run at core_hz, if that is not 0.
 * Drivers state limits of 0.4 or 8.6 GHz for a core of 3.1. */
static inline bool cpuc_stated_agrees(uint64_t hz, uint64_t core_hz)
{
	return core_hz == 0 || (core_hz <= hz + hz / 2 && hz <= 2 * core_hz);
}

/* Ticks per second of the time base: the device tree's timebase-frequency
 * (RISC-V), or `timebase` in /proc/cpuinfo (POWER). 0: neither exists. */
uint64_t cpuc_stated_timebase(void);

#endif
