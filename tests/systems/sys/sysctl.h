/* SPDX-License-Identifier: 0BSD */
/* OpenBSD's numbers, for tests/sim_systems.c. */
#ifndef PRETENDED_SYSCTL_H
#define PRETENDED_SYSCTL_H

#include <stddef.h>

#define CTL_HW 6
#define HW_CPUSPEED 12
#define CTL_MACHDEP 7
#define CPU_TSCFREQ 16

int sysctl(const int *name, unsigned names, void *old, size_t *old_size,
	   void *new_value, size_t new_size);

#endif
