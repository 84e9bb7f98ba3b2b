/* SPDX-License-Identifier: 0BSD */
/* Faults that the hardware raises: a signal that is sent is not one. */
#ifndef REAL_H
#define REAL_H

#include <stddef.h>
#include <sys/mman.h>

/* SIGSEGV. */
__attribute__((unused)) static void real_access(void)
{
	static volatile char *page;

	if (page == NULL)
		page = mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	page[0] = 1;
}

/* SIGILL, SIGTRAP or SIGFPE, by the architecture: PA-RISC has an addition for
 * it that traps on overflow. */
__attribute__((unused)) static void real_trap(void)
{
#ifdef __s390x__
	/* qemu gives compare-and-trap the si_code of kill(2). */
	__asm__ volatile(".short 0");
#elif defined __sparc__
	/* qemu gives up at the compiler's trap. */
	__asm__ volatile("unimp 0");
#endif
	__builtin_trap();
}

#endif
