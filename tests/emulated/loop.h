/* SPDX-License-Identifier: 0BSD */
/* A loop of exactly LOOP_CYCLES instructions an iteration, which take as many
 * cycles under -icount. */
#ifndef LOOP_H
#define LOOP_H

#define LOOP_CYCLES 6

static void loop(long n)
{
#if defined(__aarch64__)
	__asm__ volatile("1: nop\n\tnop\n\tnop\n\tnop\n\t"
			 "subs %0, %0, #1\n\tb.ne 1b"
			 : "+r"(n)
			 :
			 : "cc");
#elif defined(__riscv)
	__asm__ volatile("1: nop\n\tnop\n\tnop\n\tnop\n\t"
			 "addi %0, %0, -1\n\tbnez %0, 1b"
			 : "+r"(n));
#else
#error "no emulated machine has this architecture"
#endif
}

#endif
