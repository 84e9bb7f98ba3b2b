/* SPDX-License-Identifier: 0BSD */
/* What the counters of x86 have in common. */
#ifndef CPUC_X86_H
#define CPUC_X86_H

#include "slot.h"

/* A counter's name on 64-bit and on 32-bit x86. */
#if defined(__x86_64__)
#define CPUC_X86_NAME(rest) "amd64-" rest
#else
#define CPUC_X86_NAME(rest) "x86-" rest
#endif

/* The open of every counter that reads the time-stamp counter: refuses where
 * that is forbidden, and sets slot->rate where the CPU or the hypervisor
 * states it. */
int cpuc_x86_open_tsc(struct cpuc_slot *slot);

/* The time-stamp counter's measured rate, for all that read it. */
extern uint64_t cpuc_x86_tsc_rate;

#endif
