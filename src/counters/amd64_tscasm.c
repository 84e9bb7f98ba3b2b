/* SPDX-License-Identifier: 0BSD */
/* amd64-tscasm, x86-tscasm: as amd64-tsc, by inline assembly. */
#include <config.h>
#include "x86.h"

static long long amd64_tscasm_read(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (long long)((uint64_t)high << 32 | low);
}

CPUC_DEFINE_COUNTER(amd64_tscasm, CPUC_X86_NAME("tscasm"),
		    .kind = CPUC_REFERENCE, .clock = &cpuc_x86_tsc,
		    .open = cpuc_x86_open_tsc)
