/* SPDX-License-Identifier: 0BSD */
/* BSD's call, for tests/sim_systems.c. */
#ifndef PRETENDED_SYSCTL_H
#define PRETENDED_SYSCTL_H

#include <stddef.h>

int sysctlbyname(const char *name, void *old, size_t *old_size,
		 const void *new_value, size_t new_size);

#endif
