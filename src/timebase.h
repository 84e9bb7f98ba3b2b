/* SPDX-License-Identifier: 0BSD */
/* What Linux says the rate of a time base is, a clock outside the core. */
#ifndef CPUC_TIMEBASE_H
#define CPUC_TIMEBASE_H

#include <stdint.h>

/* Ticks per second, by the files below root: the property timebase-frequency
 * of the device tree's cpus (RISC-V), or the line `timebase` of /proc/cpuinfo
 * (POWER). 0: neither says. */
uint64_t cpuc_timebase(const char *root);

#endif
