/* SPDX-License-Identifier: 0BSD */
/* arm32-cortex: PMCCNTR, the PMU's cycle counter, by MRC p15,0,c9,c13,0 (Arm
 * ARM for ARMv7-A and -R, DDI 0406, "PMCCNTR"). SIGILL unless PMUSERENR lets
 * users read it, which Linux does for nobody by default. It stands still until
 * somebody enables it, and counts the core, not the thread. */
#include <config.h>
#include "extend32.h"

CPUC_ASM_READ(uint32_t, arm32_cortex_raw, "mrc p15, 0, %0, c9, c13, 0")
CPUC_EXTEND32(arm32_cortex, "arm32-cortex")
