/* SPDX-License-Identifier: 0BSD */
/* amd64-tscasm, x86-tscasm: RDTSC by inline assembly, for compilers whose
 * intrinsic is missing or worse. */
#include <config.h>
#include "x86.h"

static long long amd64_tscasm_read(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (long long)((uint64_t)high << 32 | low);
}

const struct cpuc_counter cpuc_counter_amd64_tscasm = {
	.name = CPUC_X86_NAME("tscasm"),
	.kind = CPUC_REFERENCE,
	.clock = &cpuc_x86_tsc,
	.read = amd64_tscasm_read,
	.open = cpuc_x86_open_tsc,
};
