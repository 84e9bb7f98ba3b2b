/* SPDX-License-Identifier: 0BSD */
/* mips64-cc, mips32-cc: hardware register 2, the cycle counter, times register
 * 3, the cycles from one count to the next, by RDHWR (MIPS Architecture for
 * Programmers, Volume II-A, "RDHWR"; release 2). SIGILL where HWREna forbids it
 * and no kernel emulates it. It counts the core, not the thread, in 32 bits. */
#include <config.h>
#include "extend32.h"

static uint32_t mips64_cc_raw(void)
{
	uint32_t counts, cycles;

	__asm__ volatile("rdhwr %0, $2\n\trdhwr %1, $3"
			 : "=&r"(counts), "=r"(cycles));
	/* Modulo 2^32: the low half depends on nothing else. */
	return counts * cycles;
}

#if __mips64
CPUC_EXTEND32(mips64_cc, "mips64-cc")
#else
CPUC_EXTEND32(mips64_cc, "mips32-cc")
#endif
