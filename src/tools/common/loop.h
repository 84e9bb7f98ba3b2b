/* SPDX-License-Identifier: 0BSD */
/* A loop of instructions that do not depend on each other: LOOP_INSTRUCTIONS a
 * turn, 0 where the number is not known. An emulator that counts instructions
 * takes as many cycles. */
#ifndef CPUC_TOOLS_LOOP_H
#define CPUC_TOOLS_LOOP_H

#include <stddef.h>

#define LOOP_INSTRUCTIONS 6
#if defined(__x86_64__) || defined(__i386__)
#define LOOP_END "sub $1, %0\n\tjnz 1b"
#elif defined(__aarch64__)
#define LOOP_END "subs %0, %0, #1\n\tb.ne 1b"
#elif defined(__riscv)
#define LOOP_END "addi %0, %0, -1\n\tbnez %0, 1b"
#else
#undef LOOP_INSTRUCTIONS
#define LOOP_INSTRUCTIONS 0
#define LOOP_END ""
#endif

static inline void loop(unsigned long turns)
{
	size_t n = turns; /* as wide as a register, which long may not be */

	do
		__asm__ __volatile__("1:\n\t"
				     "nop\n\tnop\n\tnop\n\tnop\n\t" LOOP_END
				     : "+r"(n)
				     :
				     : "cc");
	while (LOOP_INSTRUCTIONS == 0 && --n > 0);
}

#endif
