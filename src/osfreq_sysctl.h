/* SPDX-License-Identifier: 0BSD */
/* The CPU's frequency from systems that tell it by a call, not by a file. */
#ifndef CPUC_OSFREQ_SYSCTL_H
#define CPUC_OSFREQ_SYSCTL_H

#include <stdint.h>

/* The frequency in Hz and, unless it is 0 for unknown, the name of what told
 * it in *source (static storage). Only about the machine it runs on. */
uint64_t cpuc_osfreq_sysctl(const char **source);

#endif
