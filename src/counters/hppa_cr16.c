/* SPDX-License-Identifier: 0BSD */
/* hppa-cr16: the interval timer, control register 16, by MFCTL (PA-RISC 2.0
 * Architecture, chapter 2, "Interval Timer"). It counts the core, not the
 * thread, and cores are not synchronised. Traps where PSW's S bit keeps it from
 * users. */
#include <config.h>
#include "extend32.h"

static uint32_t hppa_cr16_raw(void)
{
	unsigned long cycles;

	__asm__ volatile("mfctl %%cr16, %0" : "=r"(cycles));
	return (uint32_t)cycles;
}

CPUC_EXTEND32(hppa_cr16, "hppa-cr16")
