/* SPDX-License-Identifier: 0BSD */
/* hppa-cr16: the interval timer, control register 16, by MFCTL (PA-RISC 2.0
 * Architecture, chapter 2, "Interval Timer"). It counts the core, not the
 * thread; cores are not synchronised. Traps where PSW's S bit forbids it. */
#include <config.h>
#include "extend32.h"

CPUC_ASM_READ(uint32_t, hppa_cr16_raw, "mfctl %%cr16, %0")
CPUC_EXTEND32(hppa_cr16, "hppa-cr16")
