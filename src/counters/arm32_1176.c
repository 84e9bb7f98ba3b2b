/* SPDX-License-Identifier: 0BSD */
/* arm32-1176: the cycle counter register of the ARM1176, by MRC p15,0,c15,c12,1
 * (ARM1176JZF-S TRM, DDI 0301, "c15, Cycle Counter Register"). SIGILL on other
 * cores, and unless the access validation control register lets users read it.
 * It counts the core, not the thread. */
#include <config.h>
#include "extend32.h"

CPUC_ASM_READ(uint32_t, arm32_1176_raw, "mrc p15, 0, %0, c15, c12, 1")
CPUC_EXTEND32(arm32_1176, "arm32-1176")
