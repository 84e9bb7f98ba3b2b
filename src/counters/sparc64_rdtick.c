/* SPDX-License-Identifier: 0BSD */
/* sparc64-rdtick: TICK, by RD %tick (The SPARC Architecture Manual, Version 9,
 * "TICK Register (TICK)"). It counts the core, not the thread. */
#include <config.h>
#include "../slot.h"

static long long sparc64_rdtick_read(void)
{
	uint64_t cycles;

	__asm__ volatile("rd %%tick, %0" : "=r"(cycles));
	/* The top bit is NPT: users may not read the register. */
	return (long long)(cycles & INT64_MAX);
}

CPUC_DEFINE_COUNTER(sparc64_rdtick, "sparc64-rdtick", .kind = CPUC_CORE,
		    .bits = 63)
