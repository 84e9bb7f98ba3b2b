/* SPDX-License-Identifier: 0BSD */
/* Cycles per second from systems that state them by a call, not in a file. */
#ifndef CPUC_STATED_SYSCTL_H
#define CPUC_STATED_SYSCTL_H

#include <stdint.h>

/* The rate in Hz of the machine it runs on, and in *source its name
 * (static storage). 0: unknown; *source is then meaningless. */
uint64_t cpuc_stated_sysctl(const char **source);

#endif
